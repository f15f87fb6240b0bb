import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A consumer that rejects everything, and another that hears of it through a topic exchange for dead letters. */
public class Rejections {
    public static void main(String[] args) throws Exception {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setUri(args[0]);
        try (Connection connection = factory.newConnection()) {
            Channel channel = connection.createChannel();
            channel.exchangeDeclare("java.normal.exchange", BuiltinExchangeType.TOPIC);
            channel.exchangeDeclare("java.dl.exchange", BuiltinExchangeType.TOPIC);
            channel.queueDeclare("java.dl.queue", false, false, false, null);
            channel.queueBind("java.dl.queue", "java.dl.exchange", "#.dl.routing.key");
            channel.queueDeclare("java.normal.queue", false, false, false,
                Map.of("x-dead-letter-exchange", "java.dl.exchange", "x-dead-letter-routing-key", "dl.routing.key"));
            channel.queueBind("java.normal.queue", "java.normal.exchange", "*.normal.routing.key");

            LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<>();
            Channel dead = connection.createChannel();
            dead.basicConsume("java.dl.queue", true, (tag, delivery) -> {
                Map<?, ?> death = (Map<?, ?>) ((List<?>) delivery.getProperties().getHeaders().get("x-death")).get(0);
                lines.add("dead " + new String(delivery.getBody(), StandardCharsets.UTF_8)
                    + " " + delivery.getEnvelope().getRoutingKey() + " " + death.get("reason")
                    + " " + death.get("queue") + " " + death.get("count"));
            }, tag -> { });
            String consumer = channel.basicConsume("java.normal.queue", false,
                (tag, delivery) -> channel.basicReject(delivery.getEnvelope().getDeliveryTag(), false), tag -> { });

            Channel producer = connection.createChannel();
            producer.confirmSelect();
            for (String body : List.of("one", "two", "three")) {
                producer.basicPublish("java.normal.exchange", "prefix.normal.routing.key", new AMQP.BasicProperties(),
                    body.getBytes(StandardCharsets.UTF_8));
            }
            producer.waitForConfirmsOrDie(5000);
            for (int count = 0; count < 3; count++) System.out.println(lines.poll(5, TimeUnit.SECONDS));
            channel.basicCancel(consumer);
            dead.queueDelete("java.dl.queue");
            dead.queueDelete("java.normal.queue");
            dead.exchangeDelete("java.normal.exchange");
            dead.exchangeDelete("java.dl.exchange");
        }
    }
}
