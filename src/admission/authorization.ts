import type { ResourceAttributes } from "../access/authorization/attributes.ts";
import type { Authorizer } from "../access/authorization/authorizer.ts";
import type { UserInfo } from "../request/user-info.ts";

/** Whether the user may do this, and what the authorizer says about it. */
export interface Permission {
  readonly allowed: boolean;
  readonly reason: string;
}

/** Asked by plugins about more than the request itself says. */
export type Authorize = (user: UserInfo, attributes: Omit<ResourceAttributes, "kind">) => Promise<Permission>;

export function authorizeBy(authorizer: Authorizer): Authorize {
  return async (user, attributes) => {
    const { kind, reason } = await authorizer.authorize(user, { kind: "resource", ...attributes });
    return { allowed: kind === "allow", reason };
  };
}

/** Whether the user may do `verb` for this signer: by its name, or by all of its domain. */
export async function mayUseSigner(
  authorize: Authorize,
  user: UserInfo,
  verb: "approve" | "sign" | "attest",
  signerName: string,
): Promise<boolean> {
  const domain = signerName.slice(0, signerName.indexOf("/") + 1);
  for (const name of [signerName, `${domain}*`]) {
    const signer = { group: "certificates.k8s.io", version: "*", resource: "signers", subresource: "", namespace: "" };
    if ((await authorize(user, { ...signer, verb, name })).allowed) return true;
  }
  return false;
}
