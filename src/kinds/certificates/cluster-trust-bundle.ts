import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { ClusterTrustBundle } from "../../api/types/certificates-v1beta1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  trustBundleNameProblems,
  validateTrustBundle,
  validateTrustBundleUpdate,
} from "./validation/cluster-trust-bundle.ts";

const clusterTrustBundleStrategy: Strategy<ClusterTrustBundle> = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  validateName: trustBundleNameProblems,
  validate: validateTrustBundle,
  validateUpdate: validateTrustBundleUpdate,
};

export const clusterTrustBundle = builtInKind("clustertrustbundles.certificates.k8s.io", {
  endpoint: stored(clusterTrustBundleStrategy),
  table: { cells: clusterTrustBundleCells },
  descriptions: {
    "certificates/v1beta1.ClusterTrustBundle": { "": "Certificates of authorities, for everybody to read." },
    "certificates/v1beta1.ClusterTrustBundleSpec": {
      "": "The certificates.",
      signerName: "The signer that they belong to, if any.",
      trustBundle: "The certificates in PEM.",
    },
  },
});

function clusterTrustBundleCells({ spec }: ClusterTrustBundle): Cells {
  return { SignerName: spec.signerName || "<none>" };
}
