import { humanDuration } from "../../api/codec/table/human-duration.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import { emptyJsonObject } from "../../api/json.ts";
import type * as certificatesV1 from "../../api/types/certificates-v1.ts";
import { pathSegmentProblems } from "../../api/validation/names.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { CreationContext, Strategy } from "../../registry/strategy.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { certificateApprovalStrategy, certificateStatusStrategy } from "./certificate-signing-request-status.ts";
import { validateSigningRequest } from "./validation/certificate-signing-request.ts";

const certificateSigningRequestStrategy: Strategy<certificatesV1.CertificateSigningRequest> = {
  ...defaultStrategy,
  coversSchema: true,
  resetFields: ["status"],
  validateName: pathSegmentProblems,
  prepareForCreate: recordRequester,
  // A request that could change would be approved as one thing and signed as another.
  prepareForUpdate(request, old) {
    request.spec = old.spec;
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
  descriptions: {
    "certificates/v1.CertificateSigningRequest": { "": "Asks a signer for a certificate." },
    "certificates/v1.CertificateSigningRequestSpec": {
      "": "The wanted certificate, and who asks.",
      request: "The request, PEM in base64.",
      signerName: "Name of the signer.",
      expirationSeconds: "Requested lifetime in seconds.",
      usages: "Allowed uses of the key.",
      username: "User that made the request; set by the server.",
      uid: "Id of who asks; set by the server.",
      groups: "Groups of who asks; set by the server.",
      extra: "Further attributes of that user; set by the server.",
    },
    "certificates/v1.CertificateSigningRequestStatus": {
      "": "The decision and the certificate.",
      conditions: "Approved, Denied or Failed.",
      certificate: "The certificate, PEM in base64.",
    },
  },
});

/** Overwrites who asks. Approvers decide by that, so it is not for the requester to say. */
function recordRequester(request: certificatesV1.CertificateSigningRequest, { user }: CreationContext): void {
  const { username: _username, uid: _uid, groups: _groups, extra: _extra, ...asked } = request.spec;
  const { name, uid, groups, extra } = user;
  request.spec = {
    ...asked,
    username: name,
    groups: [...groups],
    ...(uid === "" ? {} : { uid }),
    ...(extra.size === 0 ? {} : { extra: extraObject(extra) }),
  };
}

function extraObject(extra: UserInfo["extra"]): Record<string, string[]> {
  const object = emptyJsonObject() as Record<string, string[]>;
  for (const [key, values] of extra) object[key] = [...values];
  return object;
}

function certificateSigningRequestCells({ spec, status }: certificatesV1.CertificateSigningRequest): Cells {
  const { signerName, username = "", expirationSeconds } = spec;
  return {
    SignerName: signerName || "<none>",
    Requestor: username,
    RequestedDuration: expirationSeconds === undefined ? "<none>" : humanDuration(expirationSeconds * 1000),
    Condition: conditionText(status ?? {}),
  };
}

/** Conditions of these types count by being there. */
function conditionText({ conditions, certificate = "" }: certificatesV1.CertificateSigningRequestStatus): string {
  const types = new Set(conditions?.map(({ type }) => type));
  const decision = ["Denied", "Approved"].find((type) => types.has(type)) ?? "Pending";
  return [decision, ...(types.has("Failed") ? ["Failed"] : []), ...(certificate === "" ? [] : ["Issued"])].join(",");
}
