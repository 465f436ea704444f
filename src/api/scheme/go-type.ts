import type { ResourceInfo } from "./resource.ts";

/** Packages whose name is not the first word of their group. */
const goPackages: ReadonlyMap<string, string> = new Map([
  ["", "core"],
  ["events.k8s.io", "core"],
  ["rbac.authorization.k8s.io", "rbac"],
  ["internal.apiserver.k8s.io", "apiserverinternal"],
]);

/** Returns upstream's name of the internal type of a built-in kind, which all its versions share: `core.Pod`. */
export function goType({ group, kind }: { readonly group: string; readonly kind: string }): string {
  const [first = ""] = group.split(".");
  return `${goPackages.get(group) ?? first}.${kind}`;
}

/** Returns the type of an object, or of a list of them, as upstream's errors name it: `*core.PodList`. */
export function goPointer(info: ResourceInfo, shape: "object" | "list"): string {
  const isList = shape === "list";
  if (info.form.kind !== "struct") return isList ? "*unstructured.UnstructuredList" : "*unstructured.Unstructured";
  const { group } = info.storedAs?.info ?? info;
  return `*${goType({ group, kind: isList ? info.listKind : info.kind })}`;
}
