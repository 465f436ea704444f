import type { AdmissionAttributes } from "../../registry/admission.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { Transform, UpdateOptions } from "../../registry/registry.ts";
import { fromStorage } from "../../api/scheme/conversion/convert.ts";
import type { ResourceCall } from "./endpoint.ts";
import { toStoredVersion } from "./stored-version.ts";

/**
 * The change of a document as a change of the object that it shows. Admission judges the document, because that is
 * what the client wrote. Without a view the document is the object in the version of the request.
 * @param change leaves its argument as it is and takes nothing of it over
 */
export function throughView(
  { view, info, parts }: ResourceCall,
  change: (shown: KubeObject) => KubeObject | Promise<KubeObject>,
): { readonly transform: Transform; readonly options: Pick<UpdateOptions, "admission" | "makesAnew"> } {
  if (view === undefined) {
    const transform: Transform = async (object) => toStoredVersion(await change(fromStorage(object, info)), info);
    return { transform, options: { makesAnew: true } };
  }
  let document: KubeObject | undefined;
  const shown = (attributes: AdmissionAttributes): AdmissionAttributes => ({
    ...attributes,
    object: document,
    oldObject: attributes.oldObject === undefined ? undefined : view.show(attributes.oldObject),
  });
  return {
    async transform(object) {
      document = await change(view.show(object));
      return view.write(object, document);
    },
    options: {
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
