import type { JsonObject } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { humanDuration } from "./human-duration.ts";
import { numberIn, pairsText, structIn, structsIn, textIn } from "./reading.ts";

export function certificateSigningRequestCells(request: JsonObject): Cells {
  const spec = structIn(request, "spec");
  const seconds = spec["expirationSeconds"];
  return {
    SignerName: textIn(spec, "signerName") || "<none>",
    Requestor: textIn(spec, "username"),
    RequestedDuration: seconds === undefined ? "<none>" : humanDuration(numberIn(spec, "expirationSeconds") * 1000),
    Condition: conditionText(structIn(request, "status")),
  };
}

export function clusterTrustBundleCells(bundle: JsonObject): Cells {
  return { SignerName: textIn(structIn(bundle, "spec"), "signerName") || "<none>" };
}

export function podCertificateRequestCells(request: JsonObject): Cells {
  const spec = structIn(request, "spec");
  const types = conditionTypes(structIn(request, "status"));
  return {
    PodName: textIn(spec, "podName"),
    ServiceAccountName: textIn(spec, "serviceAccountName"),
    NodeName: textIn(spec, "nodeName"),
    SignerName: textIn(spec, "signerName"),
    State: ["Issued", "Denied", "Failed"].find((type) => types.has(type)) ?? "Pending",
    UnverifiedUserAnnotations: pairsText(spec["unverifiedUserAnnotations"]),
  };
}

/** A condition of these types counts by being there. */
function conditionText(status: JsonObject): string {
  const types = conditionTypes(status);
  const decision = ["Denied", "Approved"].find((type) => types.has(type)) ?? "Pending";
  return [
    decision,
    ...(types.has("Failed") ? ["Failed"] : []),
    ...(textIn(status, "certificate") === "" ? [] : ["Issued"]),
  ].join(",");
}

function conditionTypes(status: JsonObject): Set<string> {
  return new Set(structsIn(status, "conditions").map((condition) => textIn(condition, "type")));
}
