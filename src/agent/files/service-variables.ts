import type { Service } from "../../api/types/core-v1.ts";

/** The service whose variables every container has, because clients in the cluster find the API server by them. */
const apiService = { namespace: "default", name: "kubernetes" };

/** Returns the variables by which a container in a namespace finds its services. */
export function serviceVariables(
  services: Iterable<Service>,
  namespace: string,
  enableServiceLinks: boolean,
): Map<string, string> {
  const linked = new Map<string, Service>();
  for (const service of services) {
    const { name = "", namespace: of = "" } = service.metadata;
    const { clusterIP = "" } = service.spec ?? {};
    if (clusterIP === "" || clusterIP === "None") continue;
    const isApi = of === apiService.namespace && name === apiService.name;
    // A service of the namespace takes the place of the API server's, if it has its name.
    if (of === namespace && enableServiceLinks) linked.set(name, service);
    else if (isApi && !linked.has(name)) linked.set(name, service);
  }
  return new Map([...linked].flatMap(([name, service]) => variablesOf(variableName(name), service)));
}

function variablesOf(prefix: string, { spec }: Service): [name: string, value: string][] {
  const { clusterIP = "", ports } = spec ?? {};
  const [first] = ports ?? [];
  if (first === undefined) return [];
  const port = `${prefix}_SERVICE_PORT`;
  const named = (ports ?? []).filter(({ name = "" }) => name !== "");
  return [
    [`${prefix}_SERVICE_HOST`, clusterIP],
    [port, String(first.port)],
    ...named.map((one): [string, string] => [`${port}_${variableName(one.name ?? "")}`, String(one.port)]),
    ...(ports ?? []).flatMap((one, index) => linkVariables(prefix, clusterIP, one, index === 0)),
  ];
}

/** Returns the variables that Docker's links once had. */
function linkVariables(
  prefix: string,
  clusterIp: string,
  { port, protocol = "TCP" }: { readonly port: number; readonly protocol?: string },
  isFirst: boolean,
): [name: string, value: string][] {
  const scheme = protocol.toLowerCase();
  const host = clusterIp.includes(":") ? `[${clusterIp}]` : clusterIp;
  const url = `${scheme}://${host}:${port}`;
  const name = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
  return [
    ...(isFirst ? [[`${prefix}_PORT`, url] as [string, string]] : []),
    [name, url],
    [`${name}_PROTO`, scheme],
    [`${name}_PORT`, String(port)],
    [`${name}_ADDR`, clusterIp],
  ];
}

function variableName(name: string): string {
  return name.replaceAll("-", "_").toUpperCase();
}
