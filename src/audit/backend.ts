/** Takes finished events, each a line of JSON without its line break. */
export interface AuditBackend {
  /**
   * A promise only where the request has to wait for it.
   * @throws Error, or rejects, only where a request must not go on unrecorded
   */
  write(event: string): void | Promise<void>;
  /** Writes out what is waiting. */
  close(): Promise<void>;
}

/** Several backends as one. */
export function allBackends(backends: readonly AuditBackend[]): AuditBackend {
  const [only] = backends;
  if (only !== undefined && backends.length === 1) return only;
  return {
    write(event) {
      const waits = backends.map((backend) => backend.write(event)).filter((wait) => wait !== undefined);
      return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
    },
    close: async () => void (await Promise.all(backends.map((backend) => backend.close()))),
  };
}
