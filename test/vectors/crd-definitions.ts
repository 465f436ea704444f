import { systemUser } from "../../src/access/authentication/system-user.ts";
import type { FieldError } from "../../src/api/field-error.ts";
import { cloneJson, type JsonObject } from "../../src/api/json.ts";
import type { KubeObject } from "../../src/api/object-meta.ts";
import { decodeTyped } from "../../src/api/schema/decode.ts";
import { structOf } from "../../src/api/scheme/object-form.ts";
import { validateObjectMeta, validateObjectMetaUpdate } from "../../src/api/validation/object-meta.ts";
import { customResourceDefinition } from "../../src/kinds/apiextensions/custom-resource-definition.ts";
import { validateDefinition } from "../../src/kinds/apiextensions/validation/custom-resource-definition.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { strategyOf } from "../../src/registry/kind.ts";
import { compareErrors, type WrittenError } from "./crd-objects.ts";
import type { Difference } from "./difference.ts";

/** A definition as a client sent it, the stored one for an update, and the errors of the reference. */
export interface DefinitionCase {
  readonly name: string;
  readonly crd: JsonObject;
  readonly oldCRD?: JsonObject;
  readonly errors: readonly WrittenError[];
  readonly orderVaries?: boolean;
  readonly errorCount?: number;
}

const info = Scheme.builtIn().find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
const strategy = strategyOf(customResourceDefinition);

export function compareDefinition(recorded: DefinitionCase): Difference[] {
  const old = recorded.oldCRD === undefined ? undefined : decoded(recorded.oldCRD);
  const definition = decoded(recorded.crd);
  if (old === undefined) {
    delete definition["status"];
    strategy.prepareForCreate(definition, { user: systemUser, warn() {} });
  } else {
    if (old["status"] === undefined) delete definition["status"];
    else definition["status"] = cloneJson(old["status"]);
    strategy.prepareForUpdate(definition, old, 0);
  }
  return compareErrors(recorded, problemsOf(definition, old));
}

/** Returns the problems of a definition that a client creates. */
export function definitionProblems(json: JsonObject): FieldError[] {
  const definition = decoded(json);
  delete definition["status"];
  strategy.prepareForCreate(definition, { user: systemUser, warn() {} });
  return problemsOf(definition, undefined);
}

function decoded(json: JsonObject): KubeObject {
  if (info === undefined) throw new Error("definitions are not served");
  const { object } = decodeTyped(structOf(info), cloneJson(json), { kind: info.kind });
  info.form.applyDefaults(object);
  return object as unknown as KubeObject;
}

function problemsOf(definition: KubeObject, old: KubeObject | undefined): FieldError[] {
  const rules = { namespaced: false, validateName: (name: string) => strategy.validateName(name, definition) };
  const metadataErrors =
    old === undefined
      ? validateObjectMeta(definition.metadata, rules)
      : validateObjectMetaUpdate(definition.metadata, old.metadata, {
          ...rules,
          repeats: strategy.metaRules ?? "both",
        });
  const steps = validateDefinition(definition, old);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return [...metadataErrors, ...step.value];
}
