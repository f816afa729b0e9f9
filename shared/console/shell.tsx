import {
  ActionIcon,
  Menu,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from "@mantine/core";
import { notifications } from "@mantine/notifications";
import {
  IconAddressBook,
  IconApi,
  IconCalendarHeart,
  IconChevronDown,
  IconFilter,
  IconFlame,
  IconForms,
  IconHistory,
  IconHome,
  IconListSearch,
  IconLogout,
  IconMailOff,
  IconMenu2,
  IconMoon,
  IconReportAnalytics,
  IconRoute,
  IconSend,
  IconSettings,
  IconSun,
  IconTags,
  IconTemplate,
  IconWebhook,
} from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, type LinkProps, Outlet, useRouter } from "@tanstack/react-router";
import { PennymailError } from "pennymail";
import { api } from "./data/client.ts";
import { chooseSite, useMe, useRights, useSite } from "./data/session.ts";
import { capitalize } from "./format.ts";

interface NavigationItem {
  label: string;
  to: NonNullable<LinkProps["to"]>;
  icon: typeof IconHome;
  /** The right that the screen needs; undefined if every member may open it. */
  right?: string;
}

const navigation: { name?: string; items: NavigationItem[] }[] = [
  { items: [{ label: "Home", to: "/", icon: IconHome }] },
  {
    name: "Audience",
    items: [
      { label: "Contacts", to: "/contacts", icon: IconAddressBook },
      { label: "Lists and tags", to: "/groups/{-$kind}", icon: IconTags },
      { label: "Segments", to: "/segments", icon: IconFilter },
      { label: "Forms", to: "/forms", icon: IconForms },
      { label: "Lead scoring", to: "/scoring", icon: IconFlame },
      { label: "Suppressions", to: "/suppressions", icon: IconMailOff },
    ],
  },
  {
    name: "Send",
    items: [
      { label: "Campaigns", to: "/campaigns", icon: IconSend },
      { label: "Sequences", to: "/sequences", icon: IconRoute },
      { label: "Holiday emails", to: "/holidays", icon: IconCalendarHeart },
      { label: "Templates", to: "/templates", icon: IconTemplate },
    ],
  },
  {
    name: "Operate",
    items: [
      { label: "Log", to: "/log", icon: IconListSearch },
      {
        label: "Reports",
        to: "/reports/{-$report}",
        icon: IconReportAnalytics,
        right: "statistics:read",
      },
      { label: "Webhooks", to: "/webhooks", icon: IconWebhook, right: "credentials:read" },
      { label: "Request log", to: "/request-log", icon: IconApi, right: "credentials:read" },
      { label: "Audit log", to: "/audit-log", icon: IconHistory, right: "audit:read" },
      { label: "Settings", to: "/settings/{-$section}", icon: IconSettings },
    ],
  },
];
/** The screens that the user may open. */
function useNavigation() {
  const has = useRights();
  return navigation.map(({ name, items }) => ({
    name,
    items: items.filter(({ right }) => !right || has(right)),
  }));
}

const onPhone = ["Home", "Contacts", "Campaigns", "Log"];
const isOnPhone = ({ label }: NavigationItem) => onPhone.includes(label);

/** The frame of all screens of a signed-in user. */
export function Shell() {
  const groups = useNavigation();
  const items = groups.flatMap((group) => group.items);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <nav className="side" aria-label="Main">
        <SiteMenu />
        {groups.map(({ name, items: ofGroup }) => (
          <div key={name ?? ""} className="group">
            {name && <p className="group-name">{name}</p>}
            {ofGroup.map((item) => (
              <Item key={item.label} {...item} />
            ))}
          </div>
        ))}
        <UserMenu />
      </nav>
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
      <nav className="bottom" aria-label="Main, short">
        {items.filter(isOnPhone).map((item) => (
          <Item key={item.label} {...item} />
        ))}
        <MoreMenu items={items.filter((item) => !isOnPhone(item))} />
      </nav>
    </div>
  );
}

/** On a phone: the screens that have no place in the bar. */
function MoreMenu({ items }: { items: NavigationItem[] }) {
  return (
    <Menu width={220} position="top-end">
      <Menu.Target>
        <UnstyledButton className="item">
          <IconMenu2 size={17} stroke={1.6} aria-hidden />
          <span>More</span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
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
  const { organization, organizations } = useMe();
  const enter = useOrganizationSwitch();
  const others = organizations.filter(({ id }) => id !== organization.id);
  const { site, sites } = useSite();
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
        <Menu.Label>Sites</Menu.Label>
        {sites.map(({ id, name }) => (
          <Menu.Item key={id} onClick={() => chooseSite(id)}>
            {name}
          </Menu.Item>
        ))}
        {sites.length === 0 && <Menu.Item disabled>No site yet</Menu.Item>}
        {others.length > 0 && <Menu.Label>Other organizations</Menu.Label>}
        {others.map(({ id, name }) => (
          <Menu.Item key={id} onClick={() => enter.mutate(id)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function useOrganizationSwitch() {
  const queryClient = useQueryClient();
  const router = useRouter();
  return useMutation({
    mutationFn: (organizationId: number) => api.account.switchOrganization({ organizationId }),
    onSuccess: async () => {
      queryClient.clear();
      await router.navigate({ to: "/" });
      await router.invalidate();
    },
    onError: (error) => {
      if (error instanceof PennymailError && error.ssoUrl) location.assign(error.ssoUrl);
      else notifications.show({ color: "red", title: "Not done", message: error.message });
    },
  });
}

function UserMenu() {
  const { user, auth } = useMe();
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme("light") === "dark";
  const queryClient = useQueryClient();
  const router = useRouter();
  const signOut = useMutation({
    mutationFn: () => api.account.logOut(),
    onSuccess: async () => {
      queryClient.clear();
      await router.navigate({ to: "/sign-in" });
    },
  });
  return (
    <div className="side-foot">
      <span className="site-name">
        {user.name ?? user.email}
        <small>{capitalize(auth.role ?? "")}</small>
      </span>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={isDark ? "Use light colours" : "Use dark colours"}
        onClick={() => setColorScheme(isDark ? "light" : "dark")}
      >
        {isDark ? <IconSun size={17} /> : <IconMoon size={17} />}
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label="Sign out"
        loading={signOut.isPending}
        onClick={() => signOut.mutate()}
      >
        <IconLogout size={17} />
      </ActionIcon>
    </div>
  );
}
