const waitMsMax = 20_000;
const pollMs = 5;

/** Waits until a condition holds. @throws Error that names what did not come */
export async function until(condition: () => boolean, what: string): Promise<void> {
  for (const endMs = performance.now() + waitMsMax; !condition(); await Bun.sleep(pollMs)) {
    if (performance.now() > endMs) throw new Error(`waited in vain for ${what}`);
  }
}
