/** A rule of consensus was broken: the reason why a seed fails. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** @throws Violation unless `holds`. */
export function must(holds: boolean, message: () => string): asserts holds {
  if (!holds) throw new Violation(message());
}
