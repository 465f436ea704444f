/** Which authority gets a successor, and how far it goes. */
export interface RotateCaOptions {
  /** That of the API; otherwise that of the members. */
  readonly api: boolean;
  /** Of the API: the last part. */
  readonly finish: boolean;
}

export const apiRotationHelp = `
The authority of the API goes in two commands, and nothing stops working in
between, however long that takes:

  1. quorate cluster rotate-ca --api
     All members trust a new authority and publish it beside the one in use: in
     their kubeconfigs, the kube-root-ca.crt ConfigMaps and the token Secrets.
     Certificates that clients get are of the new one; those that they have
     stay good.
  2. When that has succeeded, and not before: hand out the kubeconfigs in the
     members' data directories, renew other client certificates, give kubelets
     the new bundle as their client CA, and restart pods and programs that read
     the bundle when they start.
  3. quorate cluster rotate-ca --api --finish
     The members serve with certificates of the new authority, and the former
     one is trusted no more: whoever was forgotten is locked out. Make join
     tokens anew.

Service account tokens and the administrator's token stay as they are. Each
command can be repeated when it was cut short. Two at once do no harm: they
stop, or one of them does, and say why.`;
