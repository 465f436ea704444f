import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { ControllerRevision } from "../../api/types/apps-v1.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateControllerRevision, validateControllerRevisionUpdate } from "./validation/controller-revision.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../../api/json-reading.ts";
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
  descriptions: {
    "apps/v1.ControllerRevision": {
      "": "A state that a StatefulSet or DaemonSet had, for going back to it.",
      data: "The state.",
      revision: "Number of the state.",
    },
  },
});

function controllerRevisionCells(revision: JsonObject): Cells {
  const owners = objectsOf(objectOf(revision["metadata"])["ownerReferences"]);
  const owner = owners.find(({ controller }) => controller === true);
  return { Controller: owner === undefined ? "<none>" : ownerText(owner), Revision: numberOf(revision["revision"]) };
}

/** `statefulset.apps/web`. */
function ownerText(owner: JsonObject): string {
  const apiVersion = textOf(owner["apiVersion"]);
  const group = apiVersion.includes("/") ? `.${apiVersion.slice(0, apiVersion.indexOf("/"))}` : "";
  return `${(textOf(owner["kind"]) + group).toLowerCase()}/${textOf(owner["name"])}`;
}
