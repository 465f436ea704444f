import { emptyJsonObject, type JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateSigningRequest } from "./validation/certificate-signing-request.ts";
import { fieldsOf } from "../../api/validation/key-values.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { certificateApprovalStrategy } from "./certificate-signing-request-status.ts";
import { certificateStatusStrategy } from "./certificate-signing-request-status.ts";
import { humanDuration } from "../../api/codec/table/human-duration.ts";
import { numberIn, structIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import { conditionTypes } from "./condition-types.ts";

const certificateSigningRequestStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  resetFields: ["status"],
  // Any name will do: nobody has to be able to tell requests apart by it.
  validateName: () => [],
  prepareForCreate: recordRequester,
  // A request that could change would be approved as one thing and signed as another.
  prepareForUpdate(request, old) {
    request["spec"] = fieldsOf(old["spec"]);
  },
  validate: validateSigningRequest,
};

export const certificateSigningRequest = builtInKind("certificatesigningrequests.certificates.k8s.io", {
  endpoint: stored(certificateSigningRequestStrategy),
  table: { cells: certificateSigningRequestCells },
  subresources: {
    approval: subresource(certificateApprovalStrategy),
    status: subresource(certificateStatusStrategy),
  },
});

/** Approvers decide by who has asked, so that is not for the requester to say. */
function recordRequester(request: KubeObject, { name, uid, groups, extra }: UserInfo): void {
  const { username: _username, uid: _uid, groups: _groups, extra: _extra, ...asked } = fieldsOf(request["spec"]);
  const spec: JsonObject = { ...asked, username: name, groups: [...groups] };
  if (uid !== "") spec["uid"] = uid;
  if (extra.size > 0) spec["extra"] = extraObject(extra);
  request["spec"] = spec;
}

function extraObject(extra: UserInfo["extra"]): JsonObject {
  const object = emptyJsonObject();
  for (const [key, values] of extra) object[key] = [...values];
  return object;
}

function certificateSigningRequestCells(request: JsonObject): Cells {
  const spec = structIn(request, "spec");
  const seconds = spec["expirationSeconds"];
  return {
    SignerName: textIn(spec, "signerName") || "<none>",
    Requestor: textIn(spec, "username"),
    RequestedDuration: seconds === undefined ? "<none>" : humanDuration(numberIn(spec, "expirationSeconds") * 1000),
    Condition: conditionText(structIn(request, "status")),
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
