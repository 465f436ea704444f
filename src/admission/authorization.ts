import type { ResourceAttributes } from "../access/authorization/attributes.ts";
import type { Authorizer } from "../access/authorization/authorizer.ts";
import type { UserInfo } from "../request/user-info.ts";

/** The authorizer's decision with its reason. */
export interface Permission {
  readonly allowed: boolean;
  readonly reason: string;
}

/** Authorizes further attributes for plugins, beyond those of the request itself. */
export type Authorize = (user: UserInfo, attributes: Omit<ResourceAttributes, "kind">) => Promise<Permission>;

export function authorizeBy(authorizer: Authorizer): Authorize {
  return async (user, attributes) => {
    const { kind, reason } = await authorizer.authorize(user, { kind: "resource", ...attributes });
    return { allowed: kind === "allow", reason };
  };
}

/** Reports whether the user may use `verb` on this signer: by its name, or by its whole domain. */
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
