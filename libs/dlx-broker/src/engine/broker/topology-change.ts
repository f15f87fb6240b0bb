import type {
  BindingDetails,
  ExchangeDeclared,
  LimitName,
  Pause,
  Permissions,
  Policy,
  QueueDeclared,
} from './declarations.js';
import type { TopicPermissions, User, VirtualHostMetadata } from './declarations.js';

/**
 * A change of the topology, as plain data. Removing a thing removes what depends on it, without a change of its own: a queue removes its
 * messages, bindings and pause, an exchange its bindings, a virtual host everything in it, a user all permissions. Adding a thing under
 * a name that exists replaces the thing.
 */
export type TopologyChange =
  | {
      readonly kind: 'vhost';
      readonly change: 'added';
      readonly vhost: string;
      readonly details: VirtualHostMetadata;
    }
  | { readonly kind: 'vhost'; readonly change: 'removed'; readonly vhost: string }
  | Changed<'exchange', ExchangeDeclared>
  | Changed<'queue', QueueDeclared>
  | Changed<'queue-pause', Pause>
  | Changed<'policy' | 'operator-policy', Policy>
  | (Named & { readonly kind: 'binding'; readonly change: 'added'; readonly details: BindingDetails })
  | (Named & { readonly kind: 'binding'; readonly change: 'removed'; readonly details: BindingDetails })
  | { readonly kind: 'user'; readonly change: 'added'; readonly name: string; readonly details: User }
  | { readonly kind: 'user'; readonly change: 'removed'; readonly name: string }
  | (Named & { readonly kind: 'permission'; readonly change: 'added'; readonly details: Permissions })
  | (Named & { readonly kind: 'permission'; readonly change: 'removed' })
  | (Named & { readonly kind: 'topic-permission'; readonly change: 'added'; readonly details: TopicPermissions })
  | (Named & { readonly kind: 'topic-permission'; readonly change: 'removed'; readonly exchange: string })
  | {
      readonly kind: 'vhost-limit';
      readonly change: 'added';
      readonly vhost: string;
      readonly name: LimitName;
      readonly value: number;
    }
  | { readonly kind: 'vhost-limit'; readonly change: 'removed'; readonly vhost: string; readonly name: LimitName }
  | { readonly kind: 'global-parameter'; readonly change: 'added'; readonly name: string; readonly value: unknown }
  | { readonly kind: 'global-parameter'; readonly change: 'removed'; readonly name: string };

/** Of permissions, `name` is the user; of a binding, the source exchange; of a pause, the queue. */
interface Named {
  readonly vhost: string;
  readonly name: string;
}

type Changed<Kind, Details> =
  | (Named & { readonly kind: Kind; readonly change: 'added'; readonly details: Details })
  | (Named & { readonly kind: Kind; readonly change: 'removed' });
