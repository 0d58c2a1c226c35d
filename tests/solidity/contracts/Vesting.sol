// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// A library over structs in storage, and structs inside structs.
library Shares {
    struct Share {
        uint granted;
        uint paid;
    }

    function open(Share storage share) internal view returns (uint) {
        return share.granted - share.paid;
    }
}

contract Vesting {
    using Shares for Shares.Share;

    struct Holder {
        Shares.Share share;
        bool known;
    }

    mapping(address => Holder) holders;
    address immutable owner = msg.sender;

    function grant(address to, uint amount) public {
        require(msg.sender == owner);
        require(!holders[to].known);
        holders[to] = Holder(Shares.Share(amount, 0), true);
    }

    function pay(uint amount) public {
        Holder storage holder = holders[msg.sender];
        require(holder.known);
        require(holder.share.paid <= holder.share.granted);
        require(amount <= holder.share.open());
        holder.share.paid += amount;
        assert(holder.share.paid <= holder.share.granted); // expect: safe
        assert(holder.share.open() > 0); // expect: unsafe
    }

    function everyone(address who) public view {
        assert(holders[who].share.paid <= holders[who].share.granted); // expect: safe
        assert(holders[who].known || holders[who].share.granted == 0); // expect: safe
    }
}
