/** Packages whose names do not have the form `io.k8s.api.<group>.<version>`. */
const packages: ReadonlyMap<string, string> = new Map([
  ["meta/v1", "io.k8s.apimachinery.pkg.apis.meta.v1"],
  ["runtime", "io.k8s.apimachinery.pkg.runtime"],
  ["resource", "io.k8s.apimachinery.pkg.api.resource"],
  ["intstr", "io.k8s.apimachinery.pkg.util.intstr"],
  ["apiextensions/v1", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"],
  ["apiregistration/v1", "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1"],
]);

/** Returns the name that code generators and clients know: `core/v1.Pod` → `io.k8s.api.core.v1.Pod`. */
export function openApiName(typeName: string): string {
  const dot = typeName.indexOf(".");
  const place = typeName.slice(0, dot);
  return `${packages.get(place) ?? `io.k8s.api.${place.replace("/", ".")}`}.${typeName.slice(dot + 1)}`;
}

/** Returns the package of a type: `core/v1` for `core/v1.Pod`. */
export function packageOf(typeName: string): string {
  return typeName.slice(0, typeName.indexOf("."));
}
