import type { KubeObject } from "../../api/object-meta.ts";
import { inServedVersion, inStoredVersion } from "../../api/scheme/conversion/convert.ts";
import type { Eventual } from "../../process/eventual.ts";
import type { AdmissionAttributes } from "../../registry/admission.ts";
import { onlyForm } from "../../registry/document-forms.ts";
import { alreadyTracked, type FieldTracker, ownershipOfDocument } from "../../registry/field-ownership.ts";
import type { ObjectView } from "../../registry/object-view.ts";
import { setManagedFields } from "../../registry/system-fields.ts";
import type { Transform, UpdateOptions } from "../../registry/update.ts";
import type { WriteContext } from "../../registry/write-context.ts";
import type { ResourceCall } from "./endpoint.ts";
import { toStoredVersion } from "./stored-version.ts";

/**
 * Turns a change of a document into a change of its object. Admission sees the document, because the client wrote that.
 * Without a view, the document is the object in the request's version.
 * @param change neither changes its argument nor reuses parts of it
 * @param track returns the managedFields of the changed document, if `change` has not set them
 */
export function throughView(
  { view, info, parts }: ResourceCall,
  change: (shown: KubeObject) => Eventual<KubeObject>,
  track: FieldTracker,
): { readonly transform: Transform; readonly options: Pick<UpdateOptions, "admission" | "makesAnew" | "tracker"> } {
  if (view === undefined) {
    const transform: Transform = async (object) =>
      toStoredVersion(await change(await inServedVersion(object, info)), info);
    return { transform, options: { makesAnew: true } };
  }
  let document: KubeObject | undefined;
  const shown = async (attributes: AdmissionAttributes, withOwners: boolean): Promise<AdmissionAttributes> => {
    const { oldObject } = attributes;
    const old = oldObject === undefined ? undefined : draftOf(view, await inServedVersion(oldObject, info));
    if (old !== undefined) {
      setManagedFields(old, withOwners ? view.entriesOf(oldObject?.metadata.managedFields) : undefined);
    }
    return { ...attributes, forms: onlyForm, object: document, oldObject: old };
  };
  const written = async (object: KubeObject, changed: KubeObject): Promise<KubeObject> =>
    inStoredVersion(view.write(await inServedVersion(object, info), changed), info);
  return {
    async transform(object) {
      const { managedFields } = object.metadata;
      const served = await inServedVersion(object, info);
      const before = draftOf(view, served);
      setManagedFields(before, view.entriesOf(managedFields));
      document = await change(before);
      setManagedFields(document, await track(before, document));
      const changed = await written(object, document);
      setManagedFields(changed, view.entriesWith(managedFields, document.metadata.managedFields));
      return changed;
    },
    options: {
      tracker: alreadyTracked,
      admission: {
        async admit(attributes) {
          await parts.admission.admit(await shown(attributes, true));
          const { object } = attributes;
          if (object === undefined || document === undefined) return;
          const { metadata: _metadata, ...fields } = await written(object, document);
          Object.assign(object, fields);
        },
        async validate(attributes) {
          // As upstream does, omit the field owners of such a document.
          if (document !== undefined) setManagedFields(document, undefined);
          await parts.admission.validate(await shown(attributes, false));
        },
      },
    },
  };
}

/** Tracks the fields of a view's document, as an update changes them. Not called without a view. */
export function viewTracker(
  { view, request, info, parts }: ResourceCall,
  { manager }: Pick<WriteContext, "manager">,
): FieldTracker {
  if (view === undefined) return alreadyTracked;
  const version = view.info ?? info;
  const writer = { manager, subresource: request.subresource, version, nowMs: parts.clock.nowMs() };
  return (live, document) => ownershipOfDocument(view.info).afterUpdate(live, document, writer);
}

/** Returns the document of a view from which a change starts. */
function draftOf(view: ObjectView, object: KubeObject): KubeObject {
  return view.draft?.(object) ?? view.show(object);
}
