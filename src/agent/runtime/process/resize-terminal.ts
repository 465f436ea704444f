/** Gives a terminal the sizes of a client's, until the client is gone. */
export async function resizeTerminal(
  terminal: Bun.Terminal,
  sizes: AsyncIterable<{ readonly width: number; readonly height: number }>,
): Promise<void> {
  try {
    for await (const { width, height } of sizes) {
      if (terminal.closed) return;
      if (width > 0 && height > 0) terminal.resize(width, height);
    }
  } catch {
    // The process does not depend on the sizes, and the client's other streams report that it is gone.
  }
}
