import type { GroupResource } from "../api/gvk.ts";
import type { ObjectForm } from "../api/scheme/object-form.ts";
import { excludingNames } from "../apply/field-filter.ts";
import type { FieldFilter } from "../apply/versions.ts";

const status = excludingNames("status");
const spec = excludingNames("spec");
const specAndMetadata = excludingNames("spec", "metadata");

/** Paths whose writers own other fields than those of most kinds: `<group>/<resource>`, and the subresource. */
const filters: Readonly<Record<string, FieldFilter | undefined>> = {
  "/namespaces/finalize": status,
  "/nodes": status,
  "/pods/status": excludingNames("spec", "metadata.deletionTimestamp", "metadata.ownerReferences"),
  "admissionregistration.k8s.io/validatingadmissionpolicies/status": specAndMetadata,
  "apiregistration.k8s.io/apiservices/status": specAndMetadata,
  "apps/deployments/status": excludingNames("spec", "metadata.labels"),
  "certificates.k8s.io/certificatesigningrequests": excludingNames("spec", "status"),
  "certificates.k8s.io/certificatesigningrequests/approval": excludingNames("spec", "status.certificate"),
  "certificates.k8s.io/certificatesigningrequests/status": excludingNames("spec", "status.conditions"),
  "certificates.k8s.io/podcertificaterequests": undefined,
  "flowcontrol.apiserver.k8s.io/flowschemas/status": specAndMetadata,
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations/status": specAndMetadata,
  "internal.apiserver.k8s.io/storageversions/status": specAndMetadata,
  "networking.k8s.io/servicecidrs/status": specAndMetadata,
  "resource.k8s.io/devicetaintrules/status": specAndMetadata,
  "resource.k8s.io/resourceclaims/status": specAndMetadata,
  "resource.k8s.io/resourcepoolstatusrequests/status": specAndMetadata,
  "scheduling.k8s.io/podgroups/status": specAndMetadata,
  "storage.k8s.io/volumeattachments/status": specAndMetadata,
  "storagemigration.k8s.io/storageversionmigrations/status": specAndMetadata,
};

/** A resource. Its form distinguishes built-in kinds from custom ones. */
type Resource = GroupResource & { readonly form?: Pick<ObjectForm, "kind"> };

/** Returns the fields that writers through a path can own; undefined for all. `hasStatus`: the status has its own path. */
export function ownedFieldsOf(
  { group, resource, form }: Resource,
  subresource: string,
  hasStatus: boolean,
): FieldFilter | undefined {
  const key = subresource === "" ? `${group}/${resource}` : `${group}/${resource}/${subresource}`;
  if (Object.hasOwn(filters, key)) return filters[key];
  if (subresource === "status") return form?.kind === "structural" ? specAndMetadata : spec;
  return subresource === "" && hasStatus ? status : undefined;
}
