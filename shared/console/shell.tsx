import {
  ActionIcon,
  Menu,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from "@mantine/core";
import { notifications } from "@mantine/notifications";
import {
  IconChevronDown,
  IconHelp,
  IconLogout,
  IconMenu2,
  IconMoon,
  IconSearch,
  IconSun,
} from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouter } from "@tanstack/react-router";
import { PennymailError } from "pennymail";
import { lazy, Suspense, useState } from "react";
import { api } from "./data/client.ts";
import { useSessionEnded } from "./data/query-client.ts";
import { chooseSite, useMe, useSite } from "./data/session.ts";
import { t } from "./language/translate.ts";
import { ErrorNote } from "./parts/error-note.tsx";
import { LanguageItems, LanguageMenu } from "./parts/language-choice.tsx";
import { nameKeys, useShortcuts } from "./parts/shortcuts.ts";
import { statusName } from "./parts/status-names.ts";
import { sendRemovalsBeforeLeaving, undoRemoval } from "./parts/undo-toast.tsx";
import { JobButton, JobPanel } from "./shell/jobs/job-tray.tsx";
import { useJobs } from "./shell/jobs/use-jobs.ts";
import { LeaveDialog, leaveAfterAsking } from "./shell/leave-dialog.tsx";
import { type NavigationItem, useNavigation } from "./shell/navigation.ts";
import { OfflineBanner } from "./shell/offline-banner.tsx";
import { VerifyBanner } from "./shell/verify-banner.tsx";

const SearchPalette = lazy(async () => ({
  default: (await import("./shell/search-palette.tsx")).SearchPalette,
}));
const Help = lazy(async () => ({ default: (await import("./shell/help.tsx")).Help }));
const SignInAgain = lazy(async () => ({
  default: (await import("./shell/sign-in-again.tsx")).SignInAgain,
}));

const searchKey = nameKeys("mod+K");
const onPhone = [t("Home"), t("Contacts"), t("Campaigns"), t("Log")];
const isInMenu = ({ isTab }: NavigationItem) => !isTab;
const isOnPhone = ({ label }: NavigationItem) => onPhone.includes(label);

/** The frame of all screens of a signed-in user. */
export function Shell() {
  const groups = useNavigation();
  const items = groups.flatMap((group) => group.items);
  const navigate = useNavigate();
  const [overlay, setOverlay] = useState<"search" | "help">();
  const search = () => setOverlay("search");
  const help = () => setOverlay("help");
  const close = () => setOverlay(undefined);
  const hasSessionEnded = useSessionEnded();
  const [areJobsOpen, setJobsOpen] = useState(false);
  const { jobs, announcement } = useJobs({ isPanelOpen: areJobsOpen });
  const jobButton = (
    <JobButton jobs={jobs} isOpen={areJobsOpen} onToggle={() => setJobsOpen(!areJobsOpen)} />
  );
  useShortcuts(
    [
      { keys: ["mod+K"], label: t("Search and act"), run: search, inFields: true },
      { keys: ["z"], label: t("Undo a deletion"), run: undoRemoval },
      { keys: ["?"], label: t("Show help and shortcuts"), run: help },
      ...items.map(({ label, to, letter }) => ({
        keys: [`g ${letter}`],
        label: t("Go to {label}", { label }),
        run: () => navigate({ to }),
      })),
    ],
    "everywhere",
  );
  return (
    <div className="shell">
      <a className="skip" href="#main">
        {t("Skip to content")}
      </a>
      <nav className="side" aria-label={t("Main")}>
        <SiteMenu />
        <UnstyledButton className="find" onClick={search}>
          <IconSearch size={16} aria-hidden />
          {t("Search")} <kbd>{searchKey}</kbd>
        </UnstyledButton>
        {groups.map(({ name, items: ofGroup }) => (
          <div key={name ?? ""} className="group">
            {name && <p className="group-name">{name}</p>}
            {ofGroup.filter(isInMenu).map((item) => (
              <Item key={item.label} {...item} />
            ))}
          </div>
        ))}
        <div className="side-end">
          {jobButton}
          <UserMenu onHelp={help} />
        </div>
      </nav>
      <main id="main" tabIndex={-1}>
        <OfflineBanner />
        <VerifyBanner />
        <Outlet />
      </main>
      {jobs.length > 0 && (
        <section className="job-bar" aria-label={t("Background work, short")}>
          {jobButton}
        </section>
      )}
      <nav className="bottom" aria-label={t("Main, short")}>
        {items.filter(isOnPhone).map((item) => (
          <Item key={item.label} {...item} />
        ))}
        <MoreMenu
          items={items.filter((item) => isInMenu(item) && !isOnPhone(item))}
          onSearch={search}
          onHelp={help}
        />
      </nav>
      <p className="visually-hidden" role="status">
        {announcement}
      </p>
      {areJobsOpen && <JobPanel jobs={jobs} onClose={() => setJobsOpen(false)} />}
      <LeaveDialog />
      <Suspense>
        {overlay === "search" && <SearchPalette onClose={close} />}
        {hasSessionEnded && <SignInAgain />}
        {overlay === "help" && <Help onClose={close} />}
      </Suspense>
    </div>
  );
}

interface MoreMenuProps {
  items: NavigationItem[];
  onSearch(): void;
  onHelp(): void;
}

/** On a phone: the search, the help, the account, and the screens that are not in the bar. */
function MoreMenu({ items, onSearch, onHelp }: MoreMenuProps) {
  const { isDark, toggle } = useColors();
  const signOut = useSignOut();
  return (
    <Menu width={220} position="top-end">
      <Menu.Target>
        <UnstyledButton className="item">
          <IconMenu2 size={17} stroke={1.6} aria-hidden />
          <span>{t("More")}</span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<IconSearch size={17} stroke={1.6} aria-hidden />}
          onClick={onSearch}
        >
          {t("Search")}
        </Menu.Item>
        {items.map(({ label, to, icon: Icon }) => (
          <Menu.Item
            key={label}
            component={Link}
            to={to}
            leftSection={<Icon size={17} stroke={1.6} aria-hidden />}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Item leftSection={<IconHelp size={17} stroke={1.6} aria-hidden />} onClick={onHelp}>
          {t("Help")}
        </Menu.Item>
        <PlaceItems isShort />
        <Menu.Divider />
        <Menu.Item
          leftSection={isDark ? <IconSun size={17} /> : <IconMoon size={17} />}
          onClick={toggle}
        >
          {isDark ? t("Use light colours") : t("Use dark colours")}
        </Menu.Item>
        <LanguageItems leave={leaveAfterAsking} />
        <Menu.Item
          leftSection={<IconLogout size={17} stroke={1.6} aria-hidden />}
          onClick={() => leaveAfterAsking(() => signOut.mutate())}
        >
          {t("Sign out")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function Item({ label, to, icon: Icon }: NavigationItem) {
  return (
    <Link
      className="item"
      to={to}
      activeOptions={{ exact: to === "/" }}
      activeProps={{ "aria-current": "page" }}
    >
      <Icon size={17} stroke={1.6} aria-hidden />
      <span>{label}</span>
    </Link>
  );
}

function SiteMenu() {
  const { organization } = useMe();
  const { site } = useSite();
  const title = site?.name ?? organization.name;
  return (
    <Menu width={220} position="bottom-start">
      <Menu.Target>
        <UnstyledButton className="site">
          <span className="mark" aria-hidden>
            {title.charAt(0).toUpperCase()}
          </span>
          <span className="site-name">
            {title}
            <small>{site?.domain ?? organization.name}</small>
          </span>
          <IconChevronDown size={14} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <PlaceItems />
      </Menu.Dropdown>
    </Menu>
  );
}

/** The sites and organizations to go to. The short list leaves out the only site. */
function PlaceItems({ isShort = false }: { isShort?: boolean }) {
  const { organization, organizations } = useMe();
  const enter = useOrganizationSwitch();
  const others = organizations.filter(({ id }) => id !== organization.id);
  const { sites } = useSite();
  const hasSites = sites.length > 1 || !isShort;
  return (
    <>
      {hasSites && <Menu.Label>{t("Sites")}</Menu.Label>}
      {hasSites &&
        sites.map(({ id, name }) => (
          <Menu.Item key={id} onClick={() => chooseSite(id)}>
            {name}
          </Menu.Item>
        ))}
      {hasSites && sites.length === 0 && <Menu.Item disabled>{t("No site yet")}</Menu.Item>}
      {others.length > 0 && <Menu.Label>{t("Other organizations")}</Menu.Label>}
      {others.map(({ id, name }) => (
        <Menu.Item key={id} onClick={() => leaveAfterAsking(() => enter.mutate(id))}>
          {name}
        </Menu.Item>
      ))}
    </>
  );
}

function useOrganizationSwitch() {
  const queryClient = useQueryClient();
  const router = useRouter();
  return useMutation({
    mutationFn: async (organizationId: number) => {
      await sendRemovalsBeforeLeaving();
      return api.account.switchOrganization({ organizationId });
    },
    onSuccess: async () => {
      await router.navigate({ to: "/", ignoreBlocker: true });
      await Promise.all([queryClient.resetQueries(), router.invalidate()]);
    },
    onError: (error) => {
      if (error instanceof PennymailError && error.ssoUrl) location.assign(error.ssoUrl);
      else
        notifications.show({
          color: "red",
          title: t("The organization could not be opened"),
          message: <ErrorNote error={error} />,
          closeButtonProps: { "aria-label": t("Close") },
        });
    },
  });
}

function useColors() {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme("light") === "dark";
  return { isDark, toggle: () => setColorScheme(isDark ? "light" : "dark") };
}

function useSignOut() {
  const queryClient = useQueryClient();
  const router = useRouter();
  return useMutation({
    mutationFn: async () => {
      await sendRemovalsBeforeLeaving();
      return api.account.logOut();
    },
    onSuccess: async () => {
      queryClient.clear();
      await router.navigate({ to: "/sign-in", ignoreBlocker: true });
    },
  });
}

function UserMenu({ onHelp }: { onHelp(): void }) {
  const { user, auth } = useMe();
  const { isDark, toggle } = useColors();
  const signOut = useSignOut();
  return (
    <div className="side-foot">
      <span className="site-name" title={user.email}>
        {user.name ?? user.email}
        <small>{statusName(auth.role ?? "")}</small>
      </span>
      <ActionIcon variant="subtle" color="gray" aria-label={t("Help")} onClick={onHelp}>
        <IconHelp size={17} />
      </ActionIcon>
      <LanguageMenu leave={leaveAfterAsking} />
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={isDark ? t("Use light colours") : t("Use dark colours")}
        onClick={toggle}
      >
        {isDark ? <IconSun size={17} /> : <IconMoon size={17} />}
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t("Sign out")}
        loading={signOut.isPending}
        onClick={() => leaveAfterAsking(() => signOut.mutate())}
      >
        <IconLogout size={17} />
      </ActionIcon>
    </div>
  );
}
