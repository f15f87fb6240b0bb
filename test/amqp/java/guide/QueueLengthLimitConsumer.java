import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;

/** Hears of what was too much; its other channel consumes nothing. Runs until it is stopped. */
public class QueueLengthLimitConsumer {
    public static void main(String[] args) throws Exception {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setPort(Integer.getInteger("amqp.port", 5672));
        Connection connection = factory.newConnection();
        Channel channel = connection.createChannel();
        Channel dlChannel = connection.createChannel();
        dlChannel.basicConsume("length.limit.dl.queue.test", true,
            (tag, delivery) -> System.out.println("dead " + new String(delivery.getBody())),
            tag -> System.out.println("cancelled " + tag));
    }
}
