import type { ResourceInfo } from "../api/scheme/resource.ts";
import type { Exchange, HttpResponse } from "../request/exchange.ts";
import type { ResourceRequest } from "../request/request-info.ts";
import type { Action } from "./action.ts";
import type { ComputedObjects } from "./computed-objects.ts";
import type { ObjectView } from "./object-view.ts";
import type { Registry } from "./registry.ts";
import type { Strategy } from "./strategy.ts";

/** Behaviour of a resource or of one of its subresources. */
export type Endpoint =
  | { readonly kind: "stored"; readonly registry: Registry }
  /** Writes the object that the path names, by rules of its own. */
  | { readonly kind: "subresource"; readonly registry: Registry; readonly strategy: Strategy }
  /** Shows and writes that object as a document of another kind. */
  | { readonly kind: "view"; readonly registry: Registry; readonly view: ObjectView }
  | { readonly kind: "action"; readonly action: Action }
  | { readonly kind: "computed"; readonly objects: ComputedObjects }
  | { readonly kind: "connection"; readonly connect: Connector };

/** Handles every verb of a subresource that is a connection to a node, pod or service. */
export type Connector = (call: ConnectionCall) => HttpResponse | Promise<HttpResponse>;

/** A request for a connection. */
export interface ConnectionCall {
  readonly exchange: Exchange;
  readonly request: ResourceRequest;
  readonly info: ResourceInfo;
}

/** Connections of the built-in API. */
export interface Connections {
  readonly nodeProxy: Connector;
  readonly podAttach: Connector;
  readonly podExec: Connector;
  readonly podLog: Connector;
  readonly podPortForward: Connector;
  readonly podProxy: Connector;
  readonly serviceProxy: Connector;
}
