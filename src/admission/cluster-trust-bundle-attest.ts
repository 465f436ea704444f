import type { KubeObject } from "../api/object-meta.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import { isObjectWrite, refuse } from "./attributes.ts";
import { type Authorize, mayUseSigner } from "./authorization.ts";

/** Requires permission for the signer to publish its trust bundle. */
export function clusterTrustBundleAttest({ authorize }: { authorize: Authorize }): AdmissionPlugin {
  return {
    name: "ClusterTrustBundleAttest",
    async validate(attributes) {
      const { object, oldObject, user } = attributes;
      if (!isObjectWrite(attributes, { group: "certificates.k8s.io", resource: "clustertrustbundles" })) return;
      for (const signer of new Set([signerOf(object), signerOf(oldObject)])) {
        if (signer === "" || (await mayUseSigner(authorize, user, "attest", signer))) continue;
        throw refuse(attributes, `user not permitted to attest for signerName ${JSON.stringify(signer)}`);
      }
    },
  };
}

function signerOf(bundle: KubeObject | undefined): string {
  return (bundle?.["spec"] as { signerName?: string } | undefined)?.signerName ?? "";
}
