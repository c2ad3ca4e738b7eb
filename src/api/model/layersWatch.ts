// How one waits for what is fetched.

/** For a caller who waits for the model’s layers and may stop waiting. Layers that have arrived stay. */
export interface LayersWatch {
  /** Ends the fetching, and the run within a layer. */
  signal?: AbortSignal;
  /** Bytes received, and bytes in all, of the layers that were missing. */
  progress?: (bytes: number, of: number) => void;
}
