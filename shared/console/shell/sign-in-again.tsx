// A session that ended while the console was open. What the user has typed stays on the screen.

import { Button, Modal } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { api } from "../data/client.ts";
import { setSessionEnded } from "../data/query-client.ts";
import { useMe } from "../data/session.ts";
import { t } from "../language/translate.ts";
import { SignInForm, singleSignOnUrl } from "../parts/sign-in-form.tsx";

export function SignInAgain() {
  const { user, organization } = useMe();
  const queryClient = useQueryClient();
  const enter = async () => {
    const me = await api.account.getCallerIdentity();
    // The screen would mix the data of two organizations.
    if (me.organization.id !== organization.id) return location.assign("/app");
    setSessionEnded(false);
    await queryClient.invalidateQueries();
  };
  useEffect(() => {
    // The user has signed in somewhere else.
    const check = () => enter().catch(() => {});
    addEventListener("focus", check);
    return () => removeEventListener("focus", check);
  });
  return (
    <SignInForm
      title={t("Sign in again")}
      Frame={Frame}
      email={user.email}
      singleSignOn={(email) => (
        <Button
          component="a"
          variant="default"
          href={singleSignOnUrl(email, "/")}
          target="_blank"
          rel="noreferrer"
        >
          {t("Use single sign-on in a new tab")}
        </Button>
      )}
      onEnter={enter}
    />
  );
}

function Frame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Modal opened onClose={() => setSessionEnded(false)} title={title} lockScroll={false}>
      <div className="stack">
        <p>{t("Your session has ended. What you typed on this page stays.")}</p>
        {children}
      </div>
    </Modal>
  );
}
