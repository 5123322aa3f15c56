package slackwater;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** A store like those of objects: its rename copies, in two steps, and then deletes; its listing takes a while. */
public class EbbFileSystem extends RawLocalFileSystem {
    public static int renames = 0;
    public static int listings = 0;

    public URI getUri() {
        return URI.create("ebb://pool/");
    }

    public String getScheme() {
        return "ebb";
    }

    public Path getWorkingDirectory() {
        return new Path("ebb://pool/");
    }

    public FileStatus[] listStatus(Path folder) throws IOException {
        pause(15L);
        listings += 1;
        return super.listStatus(folder);
    }

    public boolean rename(Path from, Path to) throws IOException {
        if (!exists(from)) throw new FileNotFoundException(from.toString());
        if (getFileStatus(from).isDirectory()) return super.rename(from, to);
        renames += 1;
        InputStream source = open(from, 4096);
        OutputStream target = create(to, true);
        byte[] bytes = new byte[(int) getFileStatus(from).getLen()];
        int read = 0;
        while (read < bytes.length) read += source.read(bytes, read, bytes.length - read);
        target.write(bytes, 0, bytes.length / 2);
        target.flush();
        pause(5L);
        target.write(bytes, bytes.length / 2, bytes.length - bytes.length / 2);
        target.close();
        source.close();
        return delete(from, false);
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
