// The codes of error responses, with what each means. The page of error codes, the guide and the
// OpenAPI document are made of this table.

/** Cause and remedy are sentences in Markdown, with no markup but `code`. */
export interface ErrorMeaning {
  /** HTTP statuses. */
  statuses: readonly number[];
  /** When the response has this code. */
  cause: string;
  /** What the caller can do. */
  remedy: string;
}

/** Programs compare the codes, so a code keeps its name. */
export const errorMeanings = {
  allowance_moved: {
    statuses: [503],
    cause: "Other requests of the organization were charged for emails at the same time.",
    remedy: "Send the request again after the seconds in `Retry-After`.",
  },
  already_enabled: {
    statuses: [409],
    cause: "An authenticator app is already set up for this user.",
    remedy: "Disable it with `POST /mfa/totp/disable` before you set up another one.",
  },
  already_member: {
    statuses: [409],
    cause: "The address belongs to a member of the organization.",
    remedy: "Change the role of the member with `PUT /members/{id}`.",
  },
  already_resent: {
    statuses: [409],
    cause: "The campaign was already sent again to these recipients.",
    remedy:
      "See `resends` of the campaign. Delete the resend if it is a draft, and create it again.",
  },
  already_revoked: {
    statuses: [409],
    cause: "The secure message was already revoked.",
    remedy: "Nothing is left to do: nobody can read the message any more.",
  },
  already_verified: {
    statuses: [409],
    cause: "The email address of the account is verified.",
    remedy: "Nothing is left to do: the organization can send.",
  },
  campaign_running: {
    statuses: [409],
    cause: "The campaign still has email to send, so it cannot be deleted.",
    remedy: "Cancel it with `POST /campaigns/{id}/cancel`, and delete it when `finishedAt` is set.",
  },
  campaign_status: {
    statuses: [409],
    cause: "The status of the campaign does not allow this. `error` names the statuses that do.",
    remedy: "Read the campaign for its status. To send a campaign again, create a new one.",
  },
  captcha_failed: {
    statuses: [400],
    cause: "The form has a CAPTCHA, and the token is missing, was used before or is not valid.",
    remedy: "Let the visitor solve the CAPTCHA again. A token is valid once, for a few minutes.",
  },
  captcha_unavailable: {
    statuses: [503],
    cause:
      "The provider of the CAPTCHA did not answer, or does not accept the secret of the form. " +
      "Nothing was stored.",
    remedy: "Try again in a few minutes. If it stays so, check `captcha` of the form.",
  },
  changed_meanwhile: {
    statuses: [409],
    cause: "The subscription changed while the plan was being changed.",
    remedy: "Ask for a new preview with `POST /plans/change`, then confirm that one.",
  },
  checkout_required: {
    statuses: [409],
    cause: "The organization has no subscription yet whose plan could change.",
    remedy: "Start a subscription with `POST /billing/checkout`.",
  },
  conflict: {
    statuses: [409],
    cause:
      "The state of the record does not allow this, or another request changed the record at the " +
      "same time. `error` says which.",
    remedy: "Read the record again, then decide whether to repeat the request.",
  },
  contact_merged: {
    statuses: [404],
    cause: "The contact was merged into another one. `mergedInto` is the id of that one.",
    remedy: "Use the id in `mergedInto`.",
  },
  contended: {
    statuses: [503],
    cause: "Too many requests changed the same record at once.",
    remedy: "Send the request again after the seconds in `Retry-After`.",
  },
  domain_taken: {
    statuses: [409],
    cause: "Another organization has verified this domain.",
    remedy: "Delete the domain there first, or send from another domain.",
  },
  domain_not_verified: {
    statuses: [409],
    cause:
      "Single sign-on or a tracking domain needs a domain that the organization has not verified.",
    remedy:
      "Add the domain with `POST /domains`, publish its ownership record, and try again when " +
      "`status` is `verified`.",
  },
  external_id_exists: {
    statuses: [409],
    cause: "Another contact of the site has this `externalId`.",
    remedy: "Update that contact, or clear its `externalId` first.",
  },
  draft_changed: {
    statuses: [409],
    cause: "Somebody has changed the draft of the sequence since it was read.",
    remedy: "Read it again with `GET /sequences/{id}/draft`, and apply your change to it.",
  },
  email_exists: {
    statuses: [409],
    cause: "The site already has a contact with this email address.",
    remedy: "Update that contact, or use `POST /contacts/bulk`, which creates or updates.",
  },
  email_not_verified: {
    statuses: [403],
    cause: "The owner has not verified the email address of the account.",
    remedy:
      "Open the link in the email that the sign-up sent, or request another with " +
      "`POST /auth/verify-email/resend`.",
  },
  email_taken: {
    statuses: [409],
    cause: "An account with this email address already exists.",
    remedy: "Log in, or reset the password with `POST /auth/forgot-password`.",
  },
  forbidden: {
    statuses: [403],
    cause: "The credential is not allowed to do this. `error` says why.",
    remedy: "Use another credential.",
  },
  form_inactive: {
    statuses: [409],
    cause: "The form is not active and takes no submissions.",
    remedy: 'Activate it with `PUT /forms/{id}` and `{"status": "active"}`.',
  },
  holiday_running: {
    statuses: [409],
    cause: "The holiday email still has email to send, so it cannot be deleted.",
    remedy: "Cancel it with `PUT /holidays/{id}`, and delete it when `finishedAt` is set.",
  },
  idempotency_in_progress: {
    statuses: [409],
    cause: "The first request with this `Idempotency-Key` is still running.",
    remedy: "Wait a moment and send the same request again, with the same key.",
  },
  idempotency_mismatch: {
    statuses: [409],
    cause: "This `Idempotency-Key` was used for a different request in the last 24 hours.",
    remedy: "Use a new key for each new request, and the same key only to repeat a request.",
  },
  in_use: {
    statuses: [409],
    cause: "Something uses the record, so it is not deleted. `details` names up to 20 users.",
    remedy: "Change what uses the record, or delete it without `ifUnused=true`.",
  },
  internal: {
    statuses: [500],
    cause: "The service has a fault.",
    remedy: "Try again. If it fails again, report the `requestId`.",
  },
  invalid_csv: {
    statuses: [400],
    cause: "The text is not valid CSV. `error` names the line.",
    remedy: "Correct the line, for example a quote that is not closed.",
  },
  invalid_form: {
    statuses: [400],
    cause: "The body is not valid `multipart/form-data`, or it has more than one file.",
    remedy: "Send one file, and let the HTTP client write the `Content-Type` with its boundary.",
  },
  invalid_json: {
    statuses: [400],
    cause: "The body is not valid JSON in UTF-8, or a text in it has half of a surrogate pair.",
    remedy: "Write the body with a JSON library.",
  },
  invalid_token: {
    statuses: [400, 401],
    cause:
      "The token of a reset link, an invitation or a login was used, has expired or never existed.",
    remedy: "Request a new link, or log in again.",
  },
  invitation_exists: {
    statuses: [409],
    cause: "The address has an invitation that was not accepted yet.",
    remedy: "Mail it again with `POST /invitations/{id}/resend`, or revoke it.",
  },
  last_owner: {
    statuses: [409],
    cause: "The member is the only owner of the organization.",
    remedy: "Make another member an owner first.",
  },
  limit_exceeded: {
    statuses: [400],
    cause: "A field exceeds a limit of size or number. `details` names the field.",
    remedy: "Split the request into smaller ones.",
  },
  list_exists: {
    statuses: [409],
    cause: "The site already has a list with this name.",
    remedy: "Use that list, or another name.",
  },
  merge_in_progress: {
    statuses: [409],
    cause: "The history of a contact that was merged into this one is still moving.",
    remedy: "Send the request again in a moment.",
  },
  method_not_allowed: {
    statuses: [405],
    cause: "The path exists, but not with this method. The header `Allow` names the methods.",
    remedy: "Use one of these methods.",
  },
  method_unavailable: {
    statuses: [409],
    cause: "The user has not enabled login codes by email.",
    remedy: "Give a code of the authenticator app, or a recovery code.",
  },
  no_organization: {
    statuses: [403],
    cause: "The user is not a member of any organization.",
    remedy: "Accept an invitation to an organization.",
  },
  no_sending_config: {
    statuses: [400],
    cause: "No sending config is named, or none can send from this address.",
    remedy: "Name a `sendingConfigId`, or add one with `POST /sending-configs`.",
  },
  no_subscription: {
    statuses: [409],
    cause: "The organization has no subscription.",
    remedy: "Nothing is left to cancel. Start one with `POST /billing/checkout`.",
  },
  not_configured: {
    statuses: [503],
    cause: "The installation lacks a setting, which `error` names, or its value is refused.",
    remedy: "The operator of the installation sets it.",
  },
  not_pending: {
    statuses: [409],
    cause: "The contact does not wait for a confirmation: its status is not `pending`.",
    remedy: "Nothing is left to confirm. To ask it again, set its status to `pending` first.",
  },
  not_found: {
    statuses: [404],
    cause: "The record or endpoint does not exist, or it belongs to another organization.",
    remedy: "Check the id and the path. A list shows which records exist.",
  },
  origin_forbidden: {
    statuses: [403],
    cause: "A page of another origin sent the request with a session cookie.",
    remedy: "Use an API key, or let the operator add the origin to `ALLOWED_ORIGINS`.",
  },
  password_required: {
    statuses: [403],
    cause: "The login is more than 10 minutes ago, and the request has no password.",
    remedy: "Send the request again with `password`, or log in again.",
  },
  payload_too_large: {
    statuses: [413],
    cause: "The body is larger than this endpoint takes. `error` names the limit.",
    remedy: "Send less per request. Upload large files with `POST /attachments`.",
  },
  payment_failed: {
    statuses: [402],
    cause: "The card was declined. `error` has the reason of the bank.",
    remedy: "Add another payment method in the customer portal: `POST /billing/portal`.",
  },
  payment_required: {
    statuses: [402],
    cause: "The monthly quota is used up, and there are not enough credits.",
    remedy: "Buy credits with `POST /billing/credits`, or change the plan.",
  },
  physical_address_missing: {
    statuses: [400],
    cause: "Marketing email needs a physical address in its footer, and none is set.",
    remedy: "Set `physicalAddress` with `PUT /sites/{id}` or `PUT /compliance`.",
  },
  plan_unchanged: {
    statuses: [409],
    cause: "The organization already has this plan.",
    remedy: "Name another plan. `GET /plans` lists them.",
  },
  provider_refused: {
    statuses: [400],
    cause: "An email provider, Stripe or Pexels refused the request. `error` has its reason.",
    remedy: "Correct what it names, such as the credentials or the sender, and try again.",
  },
  rate_limited: {
    statuses: [429],
    cause: "Too many requests in this minute, or too many attempts to guess a secret.",
    remedy: "Wait the seconds in `Retry-After`. A higher plan has higher limits.",
  },
  scope_missing: {
    statuses: [403],
    cause: "The API key lacks the scope that `error` names.",
    remedy: "Create a key with this scope.",
  },
  sequence_archived: {
    statuses: [409],
    cause: "The sequence is archived, so nobody can be enrolled.",
    remedy: "Change its status with `PUT /sequences/{id}`, or use another sequence.",
  },
  session_required: {
    statuses: [403],
    cause: "The endpoint takes no API keys.",
    remedy: "Log in with email and password, and send the session cookie.",
  },
  second_factor_off: {
    statuses: [409],
    cause: "The user has no second factor, so there are no recovery codes to replace.",
    remedy: "Turn on an authenticator app or login codes by email: the first one brings codes.",
  },
  setup_needed: {
    statuses: [409],
    cause: "No authenticator app is being set up.",
    remedy: "Start with `POST /mfa/totp/setup`, then confirm with a code.",
  },
  signature_invalid: {
    statuses: [400],
    cause: "The signature of the webhook does not match the body and the secret.",
    remedy: "Check the secret in the settings, and that nothing changes the body on its way.",
  },
  signup_closed: {
    statuses: [403],
    cause: "This installation takes no new organizations.",
    remedy: "Ask its operator, who can change the setting `SIGNUP`.",
  },
  site_deleted: {
    statuses: [410],
    cause: "The site was deleted, and what it owned is being erased. The body has the progress.",
    remedy: "Nothing is left to do. Later the response is 404.",
  },
  site_forbidden: {
    statuses: [403],
    cause:
      "The API key or member is limited to sites, and the request is about another site or the " +
      "whole organization.",
    remedy: "Use a key of that site, or one for the whole organization.",
  },
  site_has_sends: {
    statuses: [409],
    cause: "The site has sends, so it cannot be deleted.",
    remedy: "Keep the site. To stop its email, revoke its API keys and pause its sequences.",
  },
  sso_failed: {
    statuses: [403],
    cause:
      "A login with single sign-on failed. `error` has the reason, and owners and admins also " +
      "find it in `lastFailure` of `GET /sso`.",
    remedy: "Start the login again. If the reason stays, change the settings or the provider.",
  },
  sso_not_verified: {
    statuses: [409],
    cause: "Nobody has logged in with this issuer and client yet, so it cannot be enforced.",
    remedy: "Log in once at `loginUrl` of `GET /sso`, then set `enforced`.",
  },
  sso_required: {
    statuses: [403],
    cause: "The organization requires single sign-on of members with this address.",
    remedy: "Open `ssoUrl` of the response in a browser.",
  },
  sso_session: {
    statuses: [403],
    cause:
      "Single sign-on opened the session. It is limited to its organization, and cannot change " +
      "the password or the second factors of the account.",
    remedy: "Log in with the password of the account.",
  },
  snippet_changed: {
    statuses: [409],
    cause: "Somebody has changed the snippet since it was read.",
    remedy: "Read the snippet again, and repeat the change on it.",
  },
  snippet_cycle: {
    statuses: [400],
    cause: "The snippet would use itself, directly or through others.",
    remedy: "Remove one of the uses that the message names.",
  },
  snippet_exists: {
    statuses: [409],
    cause: "The site already has a snippet with this name.",
    remedy: "Use that snippet, or another name.",
  },
  steps_changed: {
    statuses: [409],
    cause: "Somebody has changed the steps of the sequence since they were read.",
    remedy: "Read the steps again, and repeat the change on them.",
  },
  subscription_exists: {
    statuses: [409],
    cause: "The organization already has a subscription.",
    remedy: "Change it with `POST /plans/change`.",
  },
  tag_exists: {
    statuses: [409],
    cause: "The site already has a tag with this name.",
    remedy: "Use that tag, or another name.",
  },
  template_changed: {
    statuses: [409],
    cause: "Somebody has changed the content of the template since it was read.",
    remedy: "Read the template again, and repeat the change on it.",
  },
  too_many: {
    statuses: [409],
    cause: "The organization has 10,000 records of this kind, which is the limit.",
    remedy: "Delete records that are no longer used.",
  },
  too_many_rules: {
    statuses: [409],
    cause: "The site has the largest number of scoring rules.",
    remedy: "Delete or change one of them.",
  },
  too_many_sequences: {
    statuses: [409],
    cause: "20 active sequences share this trigger, which is the limit.",
    remedy: "Pause or archive one of them, or give this sequence another trigger.",
  },
  too_many_variants: {
    statuses: [409],
    cause: "The campaign has the largest number of variants.",
    remedy: "Delete or change one of them.",
  },
  topic_exists: {
    statuses: [409],
    cause: "The site already has a topic with this name.",
    remedy: "Use that topic, or another name.",
  },
  unauthorized: {
    statuses: [401],
    cause: "The API key or the session is missing, wrong, revoked or expired.",
    remedy: "Send `Authorization: Bearer pm_live_...` with a valid key, or log in again.",
  },
  unavailable: {
    statuses: [503],
    cause: "A part of the service is down or overloaded. `error` says which, if it is known.",
    remedy: "Send the request again after the seconds in `Retry-After`.",
  },
  unsupported_media_type: {
    statuses: [415],
    cause: "The endpoint does not take this `Content-Type`.",
    remedy: "Send one of the content types that the endpoint documents.",
  },
  upstream: {
    statuses: [502],
    cause: "An email provider, Stripe or Pexels failed or did not answer.",
    remedy: "Try again later. `error` says whether an email may have been sent.",
  },
  url_taken: {
    statuses: [409],
    cause: "The organization already has a webhook endpoint with this URL.",
    remedy: "Change that endpoint.",
  },
  validation_failed: {
    statuses: [400],
    cause: "A field or parameter is missing or not valid. `details` names each.",
    remedy: "Correct these fields.",
  },
  feed_unavailable: {
    statuses: [400],
    cause: "The feed of a campaign or series could not be read. The message says why.",
    remedy:
      "Make `feedUrl` respond with JSON, or `rss.url` with RSS or Atom, of up to 1 MB within 10 " +
      "seconds, and try again.",
  },
  variables_missing: {
    statuses: [400],
    cause: "`strict` is set, and variables of the email have no value. `details` names each.",
    remedy: "Give the values, or use the filter `default` in the template.",
  },
  wrong_code: {
    statuses: [400, 401],
    cause: "The code is wrong, was used, or has expired.",
    remedy: "Give the newest code. After too many wrong codes, the response is `rate_limited`.",
  },
  wrong_passphrase: {
    statuses: [400],
    cause: "The passphrase of the secure message is wrong.",
    remedy: "Ask the sender for the passphrase.",
  },
  wrong_password: {
    statuses: [400],
    cause: "The current password is wrong.",
    remedy: "Try again, or reset the password with `POST /auth/forgot-password`.",
  },
} as const satisfies Record<string, ErrorMeaning>;
