/** The authority to replace, and the step of the rotation. */
export interface RotateCaOptions {
  /** Replace the API's authority, not the members'. */
  readonly api: boolean;
  /** Take the last step of the API's rotation. */
  readonly finish: boolean;
}

export const apiRotationHelp = `
Two commands replace the API's authority. Nothing stops working between them,
however long you wait:

  1. quorate cluster rotate-ca --api
     All members trust a new authority and publish it beside the old one: in
     their kubeconfigs, the kube-root-ca.crt ConfigMaps and the token Secrets.
     New client certificates come from the new authority. Existing ones remain
     valid.
  2. After that command has succeeded, and not before: hand out the kubeconfigs
     in the members' data directories, renew other client certificates, give
     kubelets the new bundle as their client CA, and restart pods and programs
     that read the bundle at startup.
  3. quorate cluster rotate-ca --api --finish
     The members serve with certificates of the new authority and no longer
     trust the old one. Clients that still use the old one are locked out. Make
     new join tokens.

Service account tokens and the administrator's token do not change. An
interrupted command can be repeated. Two commands at once do no harm: one or
both stop and say why.`;
