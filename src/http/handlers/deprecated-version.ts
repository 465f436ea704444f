import { deprecationWarning } from "../../api/scheme/deprecation.ts";
import { annotateExchange } from "../../request/exchange.ts";
import type { ResourceRequestCall } from "./endpoint.ts";

const deprecatedAnnotation = "k8s.io/deprecated";
const removedReleaseAnnotation = "k8s.io/removed-release";

/** Tells the client, the audit log and the metrics that the version of a request is deprecated, when it is. */
export function noteDeprecation({ exchange, request, info, parts }: ResourceRequestCall): void {
  const { deprecation } = info;
  if (deprecation === undefined) return;
  exchange.warnings.push(deprecationWarning(info, deprecation));
  annotateExchange(exchange, deprecatedAnnotation, "true");
  if (deprecation.removedIn !== "") annotateExchange(exchange, removedReleaseAnnotation, deprecation.removedIn);
  parts.metrics?.deprecatedRequest(info, request.subresource, deprecation.removedIn);
}
