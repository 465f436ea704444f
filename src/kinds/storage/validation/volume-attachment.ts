import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as storageV1 from "../../../api/types/storage-v1.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateInlineVolume } from "../../core/validation/persistent-volume.ts";
import { validateCsiDriverName } from "../../core/validation/volume-source.ts";

const metadataBytesMax = 256 * 1024;
const messageBytesMax = 1024;

export function validateVolumeAttachment(attachment: storageV1.VolumeAttachment): FieldError[] {
  const { attacher, source, nodeName } = attachment.spec;
  return [
    ...validateCsiDriverName(attacher, "spec.attacher"),
    ...validateSource(source, "spec.source"),
    ...dnsSubdomainProblems(nodeName).map((problem) => fieldError.invalid("spec.nodeName", nodeName, problem)),
    ...validateVolumeAttachmentStatus(attachment),
    ...validateVolumeName(source.persistentVolumeName, "spec.source.persistentVolumeName"),
  ];
}

export function validateVolumeAttachmentUpdate(
  attachment: storageV1.VolumeAttachment,
  old: storageV1.VolumeAttachment,
): FieldError[] {
  return validateImmutable(attachment.spec, old.spec, "spec", "storage/v1.VolumeAttachmentSpec");
}

export function validateVolumeAttachmentStatus({ status }: storageV1.VolumeAttachment): FieldError[] {
  if (status === undefined) return [];
  const bytes = Object.entries(status.attachmentMetadata ?? {}).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return [
    ...(bytes > metadataBytesMax ? [fieldError.tooLong("status.attachmentMetadata", metadataBytesMax)] : []),
    ...validateVolumeError(status.attachError, "status.attachError"),
    ...validateVolumeError(status.detachError, "status.detachError"),
  ];
}

function validateSource(source: storageV1.VolumeAttachmentSource, field: string): FieldError[] {
  const { inlineVolumeSpec: inline, persistentVolumeName: name } = source;
  const text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (inline !== undefined && name !== undefined) return [fieldError.forbidden(field, text)];
  if (inline !== undefined) return validateInlineVolume(inline, `${field}.inlineVolumeSpec`);
  if (name === undefined) return [fieldError.required(field, text)];
  if (name !== "") return [];
  return [fieldError.required(`${field}.persistentVolumeName`, "must specify non empty persistentVolumeName")];
}

/** An empty name is checked too. */
function validateVolumeName(name: string | undefined, field: string): FieldError[] {
  return name === undefined
    ? []
    : dnsSubdomainProblems(name).map((problem) => fieldError.invalid(field, name, problem));
}

function validateVolumeError(error: storageV1.VolumeError | undefined, field: string): FieldError[] {
  if (error === undefined) return [];
  const { message = "", errorCode } = error;
  // The limit in the text is that of the metadata, as upstream has it.
  const errors =
    Buffer.byteLength(message) > messageBytesMax ? [fieldError.tooLong(`${field}.message`, metadataBytesMax)] : [];
  if (errorCode === undefined || errorCode >= 0) return errors;
  return [
    ...errors,
    fieldError.invalid(`${field}.errorCode`, errorCode, "must be between 0 and 2147483647, inclusive"),
  ];
}
