"""What every saver is, for annotations."""

from . import CheckpointTuple, Store as BaseCheckpointSaver

__all__ = ["BaseCheckpointSaver", "CheckpointTuple"]
