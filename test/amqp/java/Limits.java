import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Delivery;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Messages nobody takes: those of one queue expire, those of another are too many. Their dead letters are heard. */
public class Limits {
    public static void main(String[] args) throws Exception {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setUri(args[0]);
        try (Connection connection = factory.newConnection()) {
            Channel channel = connection.createChannel();
            run(channel, "java.ttl", Map.of("x-message-ttl", 200), 2, 2);
            run(channel, "java.length", Map.of("x-max-length", 5), 8, 3);
        }
    }

    private static void run(Channel channel, String name, Map<String, Object> limit, int sent, int dying)
        throws Exception {
        channel.exchangeDeclare(name + ".exchange", BuiltinExchangeType.TOPIC);
        channel.exchangeDeclare(name + ".dl.exchange", BuiltinExchangeType.TOPIC);
        channel.queueDeclare(name + ".dl.queue", false, false, false, null);
        channel.queueBind(name + ".dl.queue", name + ".dl.exchange", "#.dl.routing.key");
        Map<String, Object> arguments = new java.util.HashMap<>(limit);
        arguments.put("x-dead-letter-exchange", name + ".dl.exchange");
        arguments.put("x-dead-letter-routing-key", "some.dl.routing.key");
        channel.queueDeclare(name + ".queue", false, false, false, arguments);
        channel.queueBind(name + ".queue", name + ".exchange", "#.routing.key");

        LinkedBlockingQueue<Delivery> dead = new LinkedBlockingQueue<>();
        channel.basicConsume(name + ".dl.queue", true, (tag, delivery) -> dead.add(delivery), tag -> { });
        for (int count = 1; count <= sent; count++) {
            channel.basicPublish(name + ".exchange", "the.routing.key", null,
                Integer.toString(count).getBytes(StandardCharsets.UTF_8));
        }
        for (int count = 0; count < dying; count++) {
            Delivery delivery = dead.poll(5, TimeUnit.SECONDS);
            Map<?, ?> death = (Map<?, ?>) ((List<?>) delivery.getProperties().getHeaders().get("x-death")).get(0);
            System.out.println(name + " " + new String(delivery.getBody(), StandardCharsets.UTF_8)
                + " " + death.get("reason") + " " + death.get("exchange") + " " + death.get("routing-keys"));
        }
        System.out.println(name + " left " + channel.queueDelete(name + ".queue").getMessageCount());
        channel.queueDelete(name + ".dl.queue");
        channel.exchangeDelete(name + ".exchange");
        channel.exchangeDelete(name + ".dl.exchange");
    }
}
