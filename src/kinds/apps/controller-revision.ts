import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { OwnerReference } from "../../api/object-meta.ts";
import type { ControllerRevision } from "../../api/types/apps-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateControllerRevision, validateControllerRevisionUpdate } from "./validation/controller-revision.ts";

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

function controllerRevisionCells({ metadata, revision }: ControllerRevision): Cells {
  const owner = (metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
  return { Controller: owner === undefined ? "<none>" : ownerText(owner), Revision: revision };
}

/** `statefulset.apps/web`. */
function ownerText({ apiVersion, kind, name }: OwnerReference): string {
  const group = apiVersion.includes("/") ? `.${apiVersion.slice(0, apiVersion.indexOf("/"))}` : "";
  return `${(kind + group).toLowerCase()}/${name}`;
}
