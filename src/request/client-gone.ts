/** The client closed its connection or stream, or stopped reading, before its response was complete. */
export class ClientGoneError extends Error {
  constructor(message = "the client is gone") {
    super(message);
    this.name = "ClientGoneError";
  }
}

/**
 * Reports whether the work for a request ended because its client went away. Such an end says nothing about the server.
 * @param signal of the request; it has the reason if an aborted operation does not give one
 */
export function isClientGone(error: unknown, signal?: AbortSignal): boolean {
  if (error instanceof ClientGoneError) return true;
  const wasAborted = error instanceof Error && error.name === "AbortError";
  return wasAborted && signal?.reason instanceof ClientGoneError;
}
