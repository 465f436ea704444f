import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { ControllerRevision } from "../../api/types/apps-v1.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateControllerRevision, validateControllerRevisionUpdate } from "./validation/controller-revision.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { numberIn, structIn, structsIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

const controllerRevisionStrategy: Strategy<ControllerRevision> = {
  ...defaultStrategy,
  coversSchema: true,
  validate: (revision, old) => validateControllerRevision(revision, old),
  validateUpdate: validateControllerRevisionUpdate,
};

export const controllerRevision = builtInKind("controllerrevisions.apps", {
  endpoint: stored(controllerRevisionStrategy),
  table: { cells: controllerRevisionCells },
});

function controllerRevisionCells(revision: JsonObject): Cells {
  const owners = structsIn(structIn(revision, "metadata"), "ownerReferences");
  const owner = owners.find(({ controller }) => controller === true);
  return { Controller: owner === undefined ? "<none>" : ownerText(owner), Revision: numberIn(revision, "revision") };
}

/** `statefulset.apps/web`. */
function ownerText(owner: JsonObject): string {
  const apiVersion = textIn(owner, "apiVersion");
  const group = apiVersion.includes("/") ? `.${apiVersion.slice(0, apiVersion.indexOf("/"))}` : "";
  return `${(textIn(owner, "kind") + group).toLowerCase()}/${textIn(owner, "name")}`;
}
