import { systemUser } from "../authentication/system-user.ts";
import type { WriteContext } from "./registry.ts";

/** The context of writes that the server makes by itself, without a request. */
export const serverContext: WriteContext = { user: systemUser, manager: "quorate", dryRun: false, warn() {} };

/** The same, of objects that Kubernetes has its API server write: clients find them under its name. */
export const apiServerContext: WriteContext = { ...serverContext, manager: "kube-apiserver" };
