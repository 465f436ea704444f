import type { HttpResponse } from "../../request/exchange.ts";
import type { ResourceRequestCall } from "../handlers/endpoint.ts";

/** A subresource that is a connection to a node, a pod or a service, and not a document. Answers every verb that it has. */
export type Connector = (call: ResourceRequestCall) => HttpResponse | Promise<HttpResponse>;
