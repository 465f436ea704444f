import type { Authorizer } from "../../access/authorization/authorizer.ts";
import type { MediaType, Representation } from "../../api/codec/representation.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import { goPointer } from "../../api/scheme/go-type.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import type { Clock } from "../../process/clock.ts";
import type { Admission } from "../../registry/admission.ts";
import type { Catalog } from "../../registry/catalog.ts";
import type { ConnectionCall, Endpoint } from "../../registry/endpoint.ts";
import type { ObjectView } from "../../registry/object-view.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { absent } from "../../registry/unreadable.ts";
import { type HttpResponse, header } from "../../request/exchange.ts";
import type { Store } from "../../storage/store.ts";
import { type NegotiateOptions, negotiate } from "../negotiate.ts";

/** Measures facts about requests that only handlers know. */
export interface HandlerMetrics {
  /** Records a request of a deprecated version. */
  deprecatedRequest(info: ResourceInfo, subresource: string, removedRelease: string): void;
  /** Records the time until a watch has sent its initial events. */
  watchListed(info: ResourceInfo, scope: WatchScope, seconds: number): void;
}

export type WatchScope = "cluster" | "namespace" | "resource";

/** The parts that every verb needs, built once by the server. */
export interface HandlerParts {
  readonly catalog: Catalog;
  /** Returns the schema of a type other than a resource, such as `meta/v1.DeleteOptions`. */
  readonly typeSchema: (name: string) => StructSchema;
  readonly store: Store;
  readonly clock: Clock;
  /** Whether `application/cbor` is served (gate CBORServingAndStorage). */
  readonly cbor: boolean;
  /** The authorizer for requests that do more than their verb says. */
  readonly authorizer: Authorizer;
  /**
   * The authorizer for deletions of unreadable objects; undefined if they are disabled (gate
   * AllowUnsafeMalformedObjectDeletion).
   */
  readonly unreadableDeletes?: Authorizer | undefined;
  /** A watch without timeoutSeconds ends after a random time between this and twice this. */
  readonly minRequestTimeoutMs: number;
  readonly randomInt: (below: number) => number;
  readonly metrics?: HandlerMetrics;
  /**
   * Returns the endpoint of a resource, or of one of its subresources.
   * @param subresource "" for the resource itself
   */
  endpoint(info: ResourceInfo, subresource: string): Endpoint | undefined;
  /** Admission of bodies that no registry writes. */
  readonly admission: Admission;
}

/** A request with its resource, which need not be stored. */
export interface ResourceRequestCall extends ConnectionCall {
  readonly parts: HandlerParts;
}

/** A request with its resource and the resource's registry. */
export interface ResourceCall extends ResourceRequestCall {
  readonly registry: Registry;
  /** Set for a subresource that writes its parent. */
  readonly strategy: Strategy;
  /** Set if the document of the path differs from the stored object. */
  readonly view?: ObjectView | undefined;
}

/** Media types for bodies of built-in kinds, in the order in which a 415 lists them. */
export const bodyMediaTypes: readonly MediaType[] = [
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/cbor",
];

export type VerbHandler = (call: ResourceCall) => HttpResponse | Promise<HttpResponse>;

export function negotiateFor(
  call: ResourceRequestCall,
  endpoint: NegotiateOptions["endpoint"],
  { tables }: { readonly tables: boolean } = { tables: true },
): Representation {
  const { exchange, request, info, parts } = call;
  return negotiate(header(exchange.request, "accept"), {
    endpoint,
    query: request.query,
    userAgent: header(exchange.request, "user-agent"),
    cbor: parts.cbor,
    tables,
    listType: () => goPointer(info, "list"),
    protobuf: info.form.kind === "struct",
  });
}

/** Returns a response with a finished body. */
export function bytesReply(code: number, contentType: string, body: Uint8Array): HttpResponse {
  return { kind: "reply", code, headers: [["content-type", contentType]], body };
}

/** @throws StatusError 404, or 500 for an object that cannot be read */
export function objectNotFound(call: ResourceCall): never {
  const { registry, request, info } = call;
  throw absent(registry, request, info);
}
