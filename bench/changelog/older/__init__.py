"""The operators of a changelog under the two models that APAS compares with, one event after the other.

| model | what an operator sends |
|---|---|
| `PositiveNegative` (STREAM) | a positive when a tuple begins, a negative when it ends: windows too, so that every operator reacts to both |
| `Temporal` (PIPES) | a tuple with its exact lifetime, once that is known; nothing is ever taken back |

Both run the trees of `slackwater.engine.plan` over streams, take all that happens at one time at once, as the kernels
do, and send nothing where a result stays what it was; only aggregates tell their value at every input, in all models.
"""  # noqa: E501
