import { systemUser } from "../access/authentication/system-user.ts";
import type { WriteContext } from "./write-context.ts";

/** The context of writes that the server makes by itself, without a request. */
export const serverContext: WriteContext = { user: systemUser, manager: "quorate", dryRun: false, warn() {} };

/** The same, in the place of components that Kubernetes has for it: clients know the fields under their names. */
export const apiServerContext: WriteContext = { ...serverContext, manager: "kube-apiserver" };
export const controllerManagerContext: WriteContext = { ...serverContext, manager: "kube-controller-manager" };
