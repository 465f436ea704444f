/** Labels whose older name is kept equal for those who still select by it. */
const olderNames = [
  ["kubernetes.io/os", "beta.kubernetes.io/os"],
  ["kubernetes.io/arch", "beta.kubernetes.io/arch"],
] as const;

/** Returns the labels of a node with equal values under older names; the same object if they are equal already. */
export function reconciledLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const changes = olderNames.flatMap(([name, older]) => {
    const value = labels[name];
    return value === undefined || labels[older] === value ? [] : [[older, value] as const];
  });
  return changes.length === 0 ? labels : { ...labels, ...Object.fromEntries(changes) };
}
