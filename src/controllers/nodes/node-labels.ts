/** Labels whose deprecated name is kept equal for clients that still select by it. */
const olderNames = [
  ["kubernetes.io/os", "beta.kubernetes.io/os"],
  ["kubernetes.io/arch", "beta.kubernetes.io/arch"],
] as const;

/**
 * Returns the node's labels, with equal values under the deprecated names. Returns the same object if nothing changes.
 */
export function reconciledLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const changes = olderNames.flatMap(([name, older]) => {
    const value = labels[name];
    return value === undefined || labels[older] === value ? [] : [[older, value] as const];
  });
  return changes.length === 0 ? labels : { ...labels, ...Object.fromEntries(changes) };
}
