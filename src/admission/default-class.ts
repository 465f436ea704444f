import type { KubeObject } from "../api/object-meta.ts";

/** Returns the classes that an annotation makes a default, the newest first and then by name. */
export function defaultClasses(classes: readonly KubeObject[], annotations: readonly string[]): readonly KubeObject[] {
  return classes
    .filter(({ metadata }) => annotations.some((name) => metadata.annotations?.[name] === "true"))
    .toSorted((a, b) => {
      const [left, right] = [timeOf(a), timeOf(b)];
      if (left !== right) return left > right ? -1 : 1;
      return (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1;
    });
}

function timeOf({ metadata }: KubeObject): string {
  return metadata.creationTimestamp ?? "";
}
