/** Packages whose name is not the first word of their group. */
const goPackages: ReadonlyMap<string, string> = new Map([
  ["", "core"],
  ["events.k8s.io", "core"],
  ["rbac.authorization.k8s.io", "rbac"],
  ["internal.apiserver.k8s.io", "apiserverinternal"],
]);

/** Returns upstream's name of the internal type of a built-in kind, which stands for all its versions: `core.Pod`. */
export function goType({ group, kind }: { readonly group: string; readonly kind: string }): string {
  const [first = ""] = group.split(".");
  return `${goPackages.get(group) ?? first}.${kind}`;
}
