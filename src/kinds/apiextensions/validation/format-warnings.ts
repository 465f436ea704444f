import type { KubeObject } from "../../../api/object-meta.ts";
import { isKnownFormat } from "../../../api/structural/formats.ts";
import { type OpenApiSchema, someSchema } from "../../../api/structural/open-api-schema.ts";
import { definitionSpecOf } from "./definition-spec.ts";

/** Warnings of one definition; more say nothing new. */
const warningsMax = 100;

/** Returns a warning for each format that the server ignores; for an update, only for added ones. */
export function formatWarnings(definition: KubeObject, old?: KubeObject): string[] {
  const known = new Set(old === undefined ? [] : unknownFormats(old));
  return unknownFormats(definition)
    .filter((format) => !known.has(format))
    .slice(0, warningsMax)
    .map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

function unknownFormats(definition: KubeObject): string[] {
  const { versions, shared } = definitionSpecOf(definition);
  const schemas = [shared.schema, ...versions.map(({ parts }) => parts.schema)];
  return schemas.flatMap((schema) => formatsOf(schema?.openAPIV3Schema));
}

function formatsOf(schema: OpenApiSchema | undefined): string[] {
  const formats: string[] = [];
  someSchema(schema, ({ format, type }) => {
    if (format !== undefined && !isKnownFormat(format, type)) formats.push(format);
    return false;
  });
  return formats;
}
