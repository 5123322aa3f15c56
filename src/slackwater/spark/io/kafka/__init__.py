"""Kafka as a source and as a sink: Spark's connector where its JAR is present, else `confluent-kafka`."""
