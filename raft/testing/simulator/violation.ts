/** A broken rule of consensus, which fails a seed. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** @throws Violation unless `holds`. */
export function must(holds: boolean, message: () => string): asserts holds {
  if (!holds) throw new Violation(message());
}
