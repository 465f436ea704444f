import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateInlineVolume } from "../../core/validation/persistent-volume.ts";
import { isPresent, numberOf, textOf, validateText } from "../../../api/validation/fields.ts";
import { validateCsiDriverName } from "../../core/validation/volume-source.ts";

const metadataBytesMax = 256 * 1024;
const messageBytesMax = 1024;

export function validateVolumeAttachment(attachment: KubeObject): FieldError[] {
  const { attacher, source, nodeName } = fieldsOf(attachment["spec"]);
  const { persistentVolumeName } = fieldsOf(source);
  const node = textOf(nodeName);
  return [
    ...validateSource(fieldsOf(source), "spec.source"),
    ...dnsSubdomainProblems(node).map((problem) => fieldError.invalid("spec.nodeName", node, problem)),
    ...validateVolumeAttachmentStatus(attachment),
    ...validateCsiDriverName(textOf(attacher), "spec.attacher"),
    ...validateText(persistentVolumeName, dnsSubdomainProblems, "spec.source.persistentVolumeName"),
  ];
}

export function validateVolumeAttachmentUpdate(attachment: KubeObject, old: KubeObject): FieldError[] {
  return validateImmutable(fieldsOf(attachment["spec"]), fieldsOf(old["spec"]), "spec");
}

export function validateVolumeAttachmentStatus(attachment: KubeObject): FieldError[] {
  const { attachmentMetadata, attachError, detachError } = fieldsOf(attachment["status"]);
  const bytes = Object.entries(fieldsOf(attachmentMetadata)).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(textOf(value)),
    0,
  );
  return [
    ...(bytes > metadataBytesMax ? [fieldError.tooLong("status.attachmentMetadata", metadataBytesMax)] : []),
    ...validateVolumeError(attachError, "status.attachError"),
    ...validateVolumeError(detachError, "status.detachError"),
  ];
}

function validateSource(source: JsonObject, field: string): FieldError[] {
  const { inlineVolumeSpec: inline, persistentVolumeName: name } = source;
  const text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (isPresent(inline) && isPresent(name)) return [fieldError.forbidden(field, text)];
  if (isPresent(inline)) return validateInlineVolume(fieldsOf(inline), `${field}.inlineVolumeSpec`);
  if (!isPresent(name)) return [fieldError.required(field, text)];
  if (name !== "") return [];
  return [fieldError.required(`${field}.persistentVolumeName`, "must specify non empty persistentVolumeName")];
}

function validateVolumeError(value: JsonValue | undefined, field: string): FieldError[] {
  if (!isPresent(value)) return [];
  const { message, errorCode } = fieldsOf(value);
  const errors =
    Buffer.byteLength(textOf(message)) > messageBytesMax
      ? [fieldError.tooLong(`${field}.message`, metadataBytesMax)]
      : [];
  if (!isPresent(errorCode) || numberOf(errorCode) >= 0) return errors;
  return [
    ...errors,
    fieldError.invalid(`${field}.errorCode`, errorCode, "must be between 0 and 2147483647, inclusive"),
  ];
}
