import type { AdmissionAttributes } from "../../registry/admission.ts";
import { alreadyTracked, type FieldTracker, ownershipOfDocument } from "../../registry/field-ownership.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { onlyForm } from "../../registry/document-forms.ts";
import { setManagedFields } from "../../registry/system-fields.ts";
import type { Transform, UpdateOptions } from "../../registry/update.ts";
import type { WriteContext } from "../../registry/write-context.ts";
import { fromStorage } from "../../api/scheme/conversion/convert.ts";
import type { ResourceCall } from "./endpoint.ts";
import { toStoredVersion } from "./stored-version.ts";

/**
 * The change of a document as a change of the object that it shows. Admission judges the document, because that is
 * what the client wrote. Without a view the document is the object in the version of the request.
 * @param change leaves its argument as it is and takes nothing of it over
 * @param track the managedFields of the changed document, where `change` has not set them
 */
export function throughView(
  { view, info, parts }: ResourceCall,
  change: (shown: KubeObject) => KubeObject | Promise<KubeObject>,
  track: FieldTracker,
): { readonly transform: Transform; readonly options: Pick<UpdateOptions, "admission" | "makesAnew" | "tracker"> } {
  if (view === undefined) {
    const transform: Transform = async (object) => toStoredVersion(await change(fromStorage(object, info)), info);
    return { transform, options: { makesAnew: true } };
  }
  let document: KubeObject | undefined;
  const shown = (attributes: AdmissionAttributes): AdmissionAttributes => ({
    ...attributes,
    forms: onlyForm,
    object: document,
    oldObject: attributes.oldObject === undefined ? undefined : view.show(attributes.oldObject),
  });
  return {
    async transform(object) {
      const { managedFields } = object.metadata;
      const before = view.show(object);
      setManagedFields(before, view.entriesOf(managedFields));
      document = await change(before);
      setManagedFields(document, track(before, document));
      const written = view.write(object, document);
      setManagedFields(written, view.entriesWith(managedFields, document.metadata.managedFields));
      return written;
    },
    options: {
      tracker: alreadyTracked,
      admission: {
        async admit(attributes) {
          await parts.admission.admit(shown(attributes));
          const { object } = attributes;
          if (object === undefined || document === undefined) return;
          const { metadata: _metadata, ...fields } = view.write(object, document);
          Object.assign(object, fields);
        },
        validate: (attributes) => parts.admission.validate(shown(attributes)),
      },
    },
  };
}

/** Tracks the fields of a view's document, as an update changes them. Nobody asks it where there is no view. */
export function viewTracker(
  { view, request, info, parts }: ResourceCall,
  { manager }: Pick<WriteContext, "manager">,
): FieldTracker {
  if (view === undefined) return alreadyTracked;
  const version = view.info ?? info;
  const writer = { manager, subresource: request.subresource, version, nowMs: parts.clock.nowMs() };
  return (live, document) => ownershipOfDocument(view.info).afterUpdate(live, document, writer);
}
