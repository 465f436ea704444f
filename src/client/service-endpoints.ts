import type { Service } from "../api/types/core-v1.ts";
import type { EndpointSlice } from "../api/types/discovery-v1.ts";

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Returns the ready endpoints that have the port of this name. */
export function readyEndpoints(slices: readonly EndpointSlice[], portName: string): Endpoint[] {
  return slices.flatMap(({ addressType, ports, endpoints }) => {
    const port = ports?.find(({ name, port: number }) => (name ?? "") === portName && typeof number === "number")?.port;
    if (addressType === "FQDN" || typeof port !== "number") return [];
    const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
    return ready.flatMap(({ addresses }) => (addresses ?? []).map((host) => ({ host, port })));
  });
}

/** Looks up Services and their endpoints. */
export interface ServiceLookup {
  service(namespace: string, name: string): Service | undefined;
  endpointSlices(namespace: string, service: string): readonly EndpointSlice[];
}

/** Finds the address of a port of a service. @throws Error with upstream's text */
export type ServiceResolver = (namespace: string, name: string, port: number) => Endpoint;

/** Connects to the virtual address of a service, as pods do. */
export function clusterAddressResolver(lookup: Pick<ServiceLookup, "service">): ServiceResolver {
  return (namespace, name, port) => {
    const { spec = {} } = serviceOf(lookup, namespace, name);
    const { type = "ClusterIP", clusterIP = "", externalName = "" } = spec;
    if (type === "ExternalName") return { host: externalName, port };
    if (type === "ClusterIP" && clusterIP === "None") throw new Error('cannot route to service with ClusterIP "None"');
    requireRoutable(type);
    portNameOf(spec, port, name);
    return { host: clusterIP, port };
  };
}

/** Connects to a random ready endpoint of a service each time. */
export function endpointResolver(lookup: ServiceLookup, randomInt: (below: number) => number): ServiceResolver {
  return (namespace, name, port) => {
    const { spec = {} } = serviceOf(lookup, namespace, name);
    requireRoutable(spec.type ?? "ClusterIP");
    const found = readyEndpoints(lookup.endpointSlices(namespace, name), portNameOf(spec, port, name));
    const chosen = found[randomInt(found.length)];
    if (chosen === undefined) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
    return chosen;
  };
}

const ownPort = 443;

/** Finds this server itself as `default/kubernetes`, and other services as `resolve` does. */
export function ownServiceResolver(resolve: ServiceResolver, own: () => Endpoint | undefined): ServiceResolver {
  return (namespace, name, port) => {
    const isOwn = namespace === "default" && name === "kubernetes" && port === ownPort;
    return (isOwn ? own() : undefined) ?? resolve(namespace, name, port);
  };
}

function serviceOf({ service }: Pick<ServiceLookup, "service">, namespace: string, name: string): Service {
  const found = service(namespace, name);
  if (found === undefined) throw new Error(`service ${JSON.stringify(name)} not found`);
  return found;
}

function requireRoutable(type: string): void {
  if (["ClusterIP", "LoadBalancer", "NodePort"].includes(type)) return;
  throw new Error(`unsupported service type ${JSON.stringify(type)}`);
}

function portNameOf({ ports }: NonNullable<Service["spec"]>, port: number, service: string): string {
  const found = ports?.find((one) => one.port === port);
  if (found !== undefined) return found.name ?? "";
  throw new Error(`no service port ${port} found for service ${JSON.stringify(service)}`);
}
