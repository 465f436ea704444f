import { equalJson } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { IpFamily } from "../../api/validation/ip.ts";

/** Maximum length of the name of an EndpointSlice. */
const nameLengthMax = 253;

/** Changes that correct EndpointSlices. Slices to create have a prefix in place of a name. */
export interface SliceChanges {
  create: EndpointSlice[];
  update: EndpointSlice[];
  remove: EndpointSlice[];
}

/** Endpoints by their key, in the order in which they are put into slices. */
export type EndpointSet = Map<string, Endpoint>;

/** Returns the key of an endpoint. Two endpoints with the same key are states of one. */
export function endpointKey({ addresses, hostname = "", targetRef = {} }: Endpoint): string {
  const { namespace = "", name = "" } = targetRef;
  return JSON.stringify([(addresses ?? []).toSorted(), hostname, namespace, name]);
}

/** Returns the key of a set of ports. A slice holds endpoints that have the same ports. */
export function portsKey(ports: readonly EndpointPort[] | null): string {
  const keys = (ports ?? []).map(({ name = "", protocol = "TCP", port = 0, appProtocol = "" }) =>
    JSON.stringify([name, protocol, port, appProtocol]),
  );
  return keys.toSorted().join();
}

/** Reports whether two states of one endpoint are equal, apart from hints. */
export function sameState(a: Endpoint, b: Endpoint): boolean {
  const [aRef, bRef] = [a, b].map(({ targetRef }) => {
    const { resourceVersion: _version, ...rest } = targetRef ?? {};
    return rest;
  });
  return (
    a.nodeName === b.nodeName &&
    a.zone === b.zone &&
    a.conditions?.ready === b.conditions?.ready &&
    a.conditions?.serving === b.conditions?.serving &&
    a.conditions?.terminating === b.conditions?.terminating &&
    equalJson(aRef, bRef)
  );
}

export interface SliceContent {
  readonly labels: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly addressType: IpFamily;
  readonly endpoints: Endpoint[];
  readonly ports: EndpointPort[];
}

/** Makes a slice for a Service or Endpoints. It is deleted with its owner. */
export function newSlice(
  { kind, metadata: { namespace = "", name = "", uid = "" } }: KubeObject,
  { labels, annotations, ...content }: SliceContent,
): EndpointSlice {
  return {
    kind: "EndpointSlice",
    apiVersion: "discovery.k8s.io/v1",
    metadata: {
      generateName: name.length < nameLengthMax ? `${name}-` : name,
      namespace,
      labels,
      ...(annotations !== undefined && { annotations }),
      ownerReferences: [{ apiVersion: "v1", kind, name, uid, controller: true, blockOwnerDeletion: true }],
    },
    ...content,
  };
}

/** Reuses slices of the same address type that would be removed, in place of creating new ones. */
export function reuseSlices(
  { create, update, remove }: SliceChanges,
  mayReuse: (removed: EndpointSlice) => boolean,
): SliceChanges {
  const created = [...create];
  const updated = [...update];
  const removed = remove.filter((slice) => {
    const at = mayReuse(slice) ? created.findLastIndex(({ addressType }) => addressType === slice.addressType) : -1;
    const [content] = at < 0 ? [] : created.splice(at, 1);
    if (content !== undefined) updated.push(inPlaceOf(slice, content));
    return content === undefined;
  });
  return { create: created, update: updated, remove: removed };
}

function inPlaceOf({ metadata }: EndpointSlice, content: EndpointSlice): EndpointSlice {
  const { name, uid, resourceVersion } = metadata;
  return { ...content, metadata: { ...content.metadata, name, uid, resourceVersion } as EndpointSlice["metadata"] };
}
