"""From a file or a frame to batches: frames, windows, datasets."""
