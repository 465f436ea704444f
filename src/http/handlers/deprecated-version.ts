import { deprecationWarning } from "../../api/scheme/deprecation.ts";
import { annotateExchange } from "../../request/exchange.ts";
import type { ResourceRequestCall } from "./endpoint.ts";

const deprecatedAnnotation = "k8s.io/deprecated";
const removedReleaseAnnotation = "k8s.io/removed-release";

/** Warns the client, and informs the audit log and the metrics, if the version of a request is deprecated. */
export function noteDeprecation({ exchange, request, info, parts }: ResourceRequestCall): void {
  const { deprecation } = info;
  if (deprecation === undefined) return;
  exchange.warnings.push(deprecationWarning(info, deprecation));
  annotateExchange(exchange, deprecatedAnnotation, "true");
  if (deprecation.removedIn !== "") annotateExchange(exchange, removedReleaseAnnotation, deprecation.removedIn);
  parts.metrics?.deprecatedRequest(info, request.subresource, deprecation.removedIn);
}
